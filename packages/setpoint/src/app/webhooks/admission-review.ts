import { Buffer } from "node:buffer";
import { type Kind, kindId } from "../../kinds/kind.js";
import type { KubeObject } from "../../kinds/object.js";
import type { AdmissionOperation, AdmissionRequest, AdmissionUser, Mutator, Validator } from "../admission.js";
import { statusOf } from "../refused-error.js";
import {
  isAnswer,
  jsonAnswer,
  reviewRequest,
  textAnswer,
  type WebAnswer,
  type WebRequest,
} from "../routes/web-message.js";
import { policyId } from "./admission-policy.js";
import { jsonPatch } from "./json-patch.js";

/** The request of an AdmissionReview, as servers send it. */
interface ReviewedRequest {
  readonly uid?: string;
  readonly kind?: { readonly group?: string; readonly version?: string; readonly kind?: string };
  readonly resource?: { readonly group?: string; readonly version?: string; readonly resource?: string };
  readonly operation?: string;
  readonly name?: string;
  readonly namespace?: string;
  readonly subResource?: string;
  readonly dryRun?: boolean;
  readonly userInfo?: Partial<AdmissionUser>;
  readonly object?: KubeObject | null;
  readonly oldObject?: KubeObject | null;
}

/**
 * Answers a validating review: allowed, unless a validator of the kind throws. A webhook with a policy calls only the
 * validators of that policy, see {@link policyId}.
 */
export async function validateReview(
  validators: readonly Validator[],
  request: WebRequest,
  policy?: string,
): Promise<WebAnswer> {
  return review(validators, request, policy, async (validator, { operation, object, old }, admission) => {
    const { create, update, delete: remove } = validator.options;
    if (operation === "CREATE") await create?.(object, admission);
    else if (operation === "UPDATE") await update?.(object, old, admission);
    else await remove?.(old, admission);
    return object;
  });
}

/**
 * Answers a mutating review with the difference between the object and the result of all mutators, called one after
 * another.
 */
export async function mutateReview(
  mutators: readonly Mutator[],
  request: WebRequest,
  policy?: string,
): Promise<WebAnswer> {
  return review(mutators, request, policy, async (mutator, { operation, object, old }, admission) => {
    const { create, update } = mutator.options;
    // A copy, because a mutator may change the object in place and return it.
    const own = structuredClone(object);
    const made =
      operation === "CREATE"
        ? await create?.(own, admission)
        : operation === "UPDATE"
          ? await update?.(own, old, admission)
          : undefined;
    if (!made) return object;
    const { apiVersion, kind } = object;
    return { apiVersion, kind, ...made } as KubeObject;
  });
}

/** The objects of a review. The operation decides which of them are set. */
interface Reviewed {
  readonly operation: AdmissionOperation;
  readonly object: KubeObject;
  readonly old: KubeObject;
}

async function review<Handler extends Validator | Mutator>(
  handlers: readonly Handler[],
  request: WebRequest,
  policy: string | undefined,
  handle: (handler: Handler, reviewed: Reviewed, admission: AdmissionRequest) => Promise<KubeObject>,
): Promise<WebAnswer> {
  const asked = reviewRequest(request, "admission.k8s.io/v1");
  if (isAnswer(asked)) return asked;
  const reviewed = asked as ReviewedRequest;
  const kind = { group: "", version: "", kind: "", ...reviewed.kind };
  const { subResource = "" } = reviewed;
  const isOf = kindMatcher(reviewed);
  const all = handlers.filter(
    ({ kind, options }) => isOf(kind) && (!subResource || options.subresources?.includes(subResource)),
  );
  const ofPolicy = all.filter((handler) => policy === undefined || policyId(handler) === policy);
  // Another version of this app may have installed the webhook with another policy. Call all handlers then, so that
  // nothing passes unchecked.
  const own = ofPolicy.length > 0 ? ofPolicy : all;
  if (own.length === 0) return textAnswer(500, `no handler is registered for ${nameOf(reviewed)}`);
  const warnings: string[] = [];
  const admission = admissionRequest(reviewed, kind, warnings, request.signal);
  const { operation, uid } = admission;
  const before = (reviewed.object ?? reviewed.oldObject) as KubeObject;
  try {
    let object = before;
    for (const handler of own) {
      object = await handle(handler, { operation, object, old: reviewed.oldObject as KubeObject }, admission);
    }
    const patch = own[0]?.type === "mutator" ? patchOf(before, object) : {};
    return answer({ uid, ...withWarnings(warnings), allowed: true, ...patch });
  } catch (error) {
    request.onThrown?.(error);
    const { code, reason, message, details } = statusOf(error);
    const status = { status: "Failure", code, reason, message, ...(details ? { details } : {}) };
    return answer({ uid, ...withWarnings(warnings), allowed: false, status });
  }
}

/**
 * Whether a review is about a kind. It compares the resource, because objects of a subresource have their own kinds
 * (`Scale`), and the version that the server converted the objects to, not the one that the client used.
 */
function kindMatcher({ kind = {}, resource }: ReviewedRequest): (kind: Kind) => boolean {
  if (resource) {
    const { group = "", version = "", resource: plural } = resource;
    return (each) => each.group === group && each.version === version && each.plural === plural;
  }
  const { group = "", version = "" } = kind;
  return (each) => each.group === group && each.version === version && each.kind === kind.kind;
}

function nameOf({ kind = {}, subResource }: ReviewedRequest): string {
  const apiVersion = kind.group ? `${kind.group}/${kind.version}` : (kind.version ?? "");
  return `${kindId({ apiVersion, kind: kind.kind ?? "" })}${subResource ? `/${subResource}` : ""}`;
}

function withWarnings(warnings: readonly string[]): { warnings?: readonly string[] } {
  return warnings.length > 0 ? { warnings } : {};
}

function patchOf(before: KubeObject, after: KubeObject): object {
  const patch = Buffer.from(JSON.stringify(jsonPatch(before, after))).toString("base64");
  return { patchType: "JSONPatch", patch };
}

function answer(response: object): WebAnswer {
  return jsonAnswer(200, { kind: "AdmissionReview", apiVersion: "admission.k8s.io/v1", response });
}

function admissionRequest(
  reviewed: ReviewedRequest,
  kind: AdmissionRequest["kind"],
  warnings: string[],
  signal: AbortSignal,
): AdmissionRequest {
  const { uid = "", operation, name, namespace, subResource, dryRun, userInfo, object, oldObject } = reviewed;
  return {
    uid,
    operation: operation as AdmissionOperation,
    kind,
    name: name ?? (object ?? oldObject)?.metadata.name ?? "",
    namespace: namespace ?? "",
    subresource: subResource ?? "",
    dryRun: dryRun === true,
    user: { username: "", uid: "", groups: [], extra: {}, ...userInfo },
    signal,
    warn: (message) => void warnings.push(message),
  };
}
