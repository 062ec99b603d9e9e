import type { KubeObject } from "setpoint";
import type { Clock, Random } from "setpoint/clock";
import { isSameJson } from "setpoint/kinds";
import { goQuote } from "../../api/go-format.js";
import { isArray, isObject, type Json, type JsonObject } from "../../api/json.js";
import { badRequest, forbidden, internalError, StatusError } from "../../api/status-error.js";
import type { Authorizer } from "../../api/user.js";
import { jsonPatch } from "../../apply/json-patch.js";
import { apiVersionOf } from "../../kinds/catalog.js";
import type { ResourceDefinition } from "../../kinds/resource-definition.js";
import type { AdmissionAttributes, AdmissionPlugin } from "../../registry/write/admission.js";
import { newUid } from "../../registry/write/identity.js";
import { goSyntaxError } from "../../schema/json-syntax.js";
import type { Storage } from "../../storage/storage.js";
import { admissionVariables } from "../expressions/admission-variables.js";
import { type AdmissionVerdict, admissionReview, denial, readVerdict, reviewVersion } from "./admission-review.js";
import { InstalledWebhooks, type Webhook } from "./webhook.js";
import { WebhookCallError, type WebhookCaller } from "./webhook-caller.js";
import { type Invocation, invocationOf, isExempt } from "./webhook-matching.js";

export interface WebhookAdmissionOptions {
  readonly storage: Storage;
  readonly clock: Clock;
  readonly random: Random;
  readonly caller: WebhookCaller;
  /** The other resources that serve the same objects. */
  readonly equivalents: (definition: ResourceDefinition) => readonly ResourceDefinition[];
  /** The authorizer of match conditions. */
  readonly authorizer: Authorizer;
}

const DEFAULT_TIMEOUT_SECONDS = 10;

type Objects = { readonly object: KubeObject | undefined; readonly oldObject: KubeObject | undefined };

/** The two webhook plugins. Mutating webhooks are called in order, validating webhooks in parallel. */
export class WebhookAdmission implements Disposable {
  readonly #options: WebhookAdmissionOptions;
  readonly #mutating: InstalledWebhooks;
  readonly #validating: InstalledWebhooks;

  constructor(options: WebhookAdmissionOptions) {
    this.#options = options;
    this.#mutating = new InstalledWebhooks(options.storage, "mutatingwebhookconfigurations");
    this.#validating = new InstalledWebhooks(options.storage, "validatingwebhookconfigurations");
  }

  [Symbol.dispose](): void {
    this.#mutating[Symbol.dispose]();
    this.#validating[Symbol.dispose]();
  }

  get mutatingPlugin(): AdmissionPlugin {
    return {
      name: "MutatingAdmissionWebhook",
      concerns: () => this.#mutating.all.length > 0,
      mutate: (attributes, warn) => this.#mutate(attributes, warn),
    };
  }

  get validatingPlugin(): AdmissionPlugin {
    return {
      name: "ValidatingAdmissionWebhook",
      concerns: () => this.#validating.all.length > 0,
      validate: (attributes, warn) => this.#validate(attributes, warn),
    };
  }

  /**
   * Each webhook sees the result of those before it. A webhook with `reinvocationPolicy: IfNeeded` is called once more
   * if a later webhook changed the object.
   */
  async #mutate(attributes: AdmissionAttributes, warn: (text: string) => void): Promise<KubeObject | undefined> {
    if (isExempt(attributes.definition)) return attributes.object;
    let object = attributes.object;
    let invoked = new Set<string>();
    const again = new Set<string>();
    for (const round of [0, 1]) {
      for (const installed of this.#mutating.all) {
        if (round === 1 && !again.has(installed.id)) continue;
        const current = { ...attributes, object };
        const invocation = this.#invocation(installed, current);
        if (!invocation) continue;
        const changed = await this.#callMutating(invocation, current, warn);
        if (changed !== undefined && !isSameJson(changed as unknown as Json, object as unknown as Json)) {
          object = changed;
          for (const id of invoked) again.add(id);
          invoked = new Set();
        }
        if (round === 0 && installed.webhook.reinvocationPolicy === "IfNeeded") invoked.add(installed.id);
      }
      if (again.size === 0) break;
    }
    return object;
  }

  async #validate(attributes: AdmissionAttributes, warn: (text: string) => void): Promise<void> {
    if (isExempt(attributes.definition)) return;
    const invocations = this.#validating.all.flatMap((installed) => this.#invocation(installed, attributes) ?? []);
    const outcomes = await Promise.allSettled(
      invocations.map(async (invocation) => {
        const objects = await this.#atVersion(invocation, attributes);
        const verdict = await this.#ask(invocation, attributes, objects, false, warn);
        if (verdict && !verdict.allowed) throw denial(invocation.installed.webhook.name, verdict.status);
      }),
    );
    for (const outcome of outcomes) if (outcome.status === "rejected") throw outcome.reason;
  }

  #invocation(installed: InstalledWebhooks["all"][number], attributes: AdmissionAttributes): Invocation | undefined {
    const { storage, equivalents } = this.#options;
    return invocationOf(installed, attributes, storage, equivalents);
  }

  /** The patched object at the request's version. Undefined if the webhook does not change it. */
  async #callMutating(
    invocation: Invocation,
    attributes: AdmissionAttributes,
    warn: (text: string) => void,
  ): Promise<KubeObject | undefined> {
    const { webhook } = invocation.installed;
    const objects = await this.#atVersion(invocation, attributes);
    const verdict = await this.#ask(invocation, attributes, objects, true, warn);
    if (!verdict) return undefined;
    if (!verdict.allowed) throw denial(webhook.name, verdict.status);
    try {
      const patched = patchedObject(webhook.name, objects.object, verdict);
      if (!patched) return undefined;
      const { shape } = invocation.definition;
      const complete = shape.applyDefaults(shape.prune(patched).object);
      return (await converted([complete], invocation.definition, attributes.definition, attributes.signal))[0];
    } catch (error) {
      return this.#failed(webhook, error);
    }
  }

  async #atVersion({ definition }: Invocation, attributes: AdmissionAttributes): Promise<Objects> {
    const { object, oldObject, signal } = attributes;
    if (definition === attributes.definition || attributes.subresource !== "") return { object, oldObject };
    const [first, second] = await Promise.all(
      [object, oldObject].map(async (each) =>
        each ? (await converted([each], attributes.definition, definition, signal))[0] : undefined,
      ),
    );
    return { object: first, oldObject: second };
  }

  /** Calls the webhook. Undefined if its match conditions are false, or if it fails and has `failurePolicy: Ignore`. */
  async #ask(
    invocation: Invocation,
    attributes: AdmissionAttributes,
    objects: Objects,
    isMutating: boolean,
    warn: (text: string) => void,
  ): Promise<AdmissionVerdict | undefined> {
    const { webhook } = invocation.installed;
    const { random, caller } = this.#options;
    if (!this.#isMatched(invocation, attributes, objects)) return undefined;
    const uid = newUid(random);
    if (attributes.dryRun && webhook.sideEffects !== "None" && webhook.sideEffects !== "NoneOnDryRun") {
      throw badRequest(`admission webhook ${goQuote(webhook.name)} does not support dry run`);
    }
    try {
      const version = reviewVersion(webhook.admissionReviewVersions);
      if (version === undefined) {
        throw new WebhookCallError(
          "could not create admission objects: webhook does not accept known AdmissionReview versions (v1, v1beta1)",
        );
      }
      const review = admissionReview(attributes, invocation, objects, uid, version);
      const answer = await called(caller, webhook, review, attributes.signal);
      const verdict = readVerdict(answer, uid, isMutating, version);
      for (const warning of verdict.warnings) warn(warning);
      return verdict;
    } catch (error) {
      return this.#failed(webhook, error);
    }
  }

  /**
   * Whether the match conditions are true. If they fail to evaluate, throws 403 unless the failurePolicy is `Ignore`.
   */
  #isMatched({ installed, definition }: Invocation, attributes: AdmissionAttributes, objects: Objects): boolean {
    const { conditions, webhook } = installed;
    if (conditions === undefined) return true;
    const result = conditions.match(
      admissionVariables({
        attributes,
        definition,
        object: (objects.object ?? null) as unknown as Json,
        oldObject: (objects.oldObject ?? null) as unknown as Json,
        authorizer: this.#options.authorizer,
      }),
    );
    if ("matches" in result) return result.matches;
    if (webhook.failurePolicy === "Ignore") return false;
    const { group, plural } = attributes.definition;
    throw forbidden({ group, resource: plural }, attributes.name, result.error);
  }

  /** A failed call rejects the request, unless the failurePolicy is `Ignore`. */
  #failed({ name, failurePolicy }: Webhook, error: unknown): undefined {
    if (!(error instanceof WebhookCallError)) throw error;
    if (failurePolicy === "Ignore") return undefined;
    throw internalError(`failed calling webhook ${goQuote(name)}: ${error.message}`);
  }
}

async function called(
  caller: WebhookCaller,
  { clientConfig, timeoutSeconds = DEFAULT_TIMEOUT_SECONDS }: Webhook,
  review: JsonObject,
  signal: AbortSignal,
): Promise<JsonObject> {
  try {
    return await caller.call(clientConfig, review, { timeoutSeconds, signal });
  } catch (error) {
    if (!(error instanceof WebhookCallError)) throw error;
    throw new WebhookCallError(`failed to call webhook: ${error.message}`, { cause: error });
  }
}

/** Converts objects from one served version to another, through the storage version. */
export async function converted(
  objects: readonly KubeObject[],
  from: ResourceDefinition,
  to: ResourceDefinition,
  signal: AbortSignal,
): Promise<readonly KubeObject[]> {
  if (from === to) return objects;
  const stored = from.convert ? await from.convert.toStored(objects, signal) : objects;
  if (to.convert) return to.convert.toServed(stored, signal);
  return stored.map((object) => ({ ...object, apiVersion: apiVersionOf(to) }));
}

function patchedObject(
  webhook: string,
  object: KubeObject | undefined,
  verdict: AdmissionVerdict,
): KubeObject | undefined {
  if (verdict.patch === "") return undefined;
  const operations = parsedPatch(verdict.patch);
  if (operations.length === 0) return undefined;
  if (!object) {
    const why = "attempted to modify the object, which is not supported for this operation";
    throw internalError(`admission webhook ${goQuote(webhook)} ${why}`);
  }
  if (verdict.patchType !== "JSONPatch") {
    throw new WebhookCallError(`unsupported patch type ${goQuote(verdict.patchType)}`);
  }
  let result = object as unknown as Json;
  for (const operation of operations) {
    try {
      result = jsonPatch(result as JsonObject, [operation]);
    } catch (error) {
      if (!(error instanceof StatusError)) throw error;
      throw internalError(operationError(operation));
    }
  }
  return result as unknown as KubeObject;
}

function parsedPatch(text: string): readonly Json[] {
  let patch: Json;
  try {
    patch = JSON.parse(text) as Json;
  } catch {
    throw new WebhookCallError(`received undecodable patch in webhook response: ${goSyntaxError(text)}`);
  }
  if (patch === null) return [];
  if (isArray(patch)) return patch;
  const why = `json: cannot unmarshal ${isObject(patch) ? "object" : typeof patch} into Go value of type jsonpatch.Patch`;
  throw new WebhookCallError(`received undecodable patch in webhook response: ${why}`);
}

/** The error of the real server's patch library for an operation that does not apply. */
export function operationError(operation: Json): string {
  const { op, path } = isObject(operation) ? operation : { op: "", path: "" };
  const key = String(path).slice(String(path).lastIndexOf("/") + 1);
  switch (op) {
    case "remove":
      return `error in remove for path: '${path}': Unable to remove nonexistent key: ${key}: missing value`;
    case "add":
      return `add operation does not apply: doc is missing path: "${path}": missing value`;
    case "test":
      return `testing value ${path} failed: test failed`;
    case "replace":
    case "move":
    case "copy":
      return `${op} operation does not apply: doc is missing key: ${path}: missing value`;
    default:
      return `Unexpected kind: ${op}`;
  }
}
