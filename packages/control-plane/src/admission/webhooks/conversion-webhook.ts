import type { KubeObject } from "setpoint";
import type { Random } from "setpoint/clock";
import { goQuote } from "../../api/go-format.js";
import { isObject, type Json, type JsonObject } from "../../api/json.js";
import { unexpected } from "../../api/status-error.js";
import type { Conversion } from "../../kinds/resource-definition.js";
import { newUid } from "../../registry/write/identity.js";
import type { WebhookClientConfig } from "./webhook.js";
import { WebhookCallError, type WebhookCaller } from "./webhook-caller.js";

export interface ConversionWebhookOptions {
  readonly caller: WebhookCaller;
  readonly random: Random;
  readonly clientConfig: WebhookClientConfig;
  readonly reviewVersions: readonly string[];
  /** `example.com/v1` */
  readonly servedApiVersion: string;
  readonly storedApiVersion: string;
}

const REVIEW = { kind: "ConversionReview", apiVersion: "apiextensions.k8s.io/v1" };
/** The webhook returned an invalid object, or another object than it received. */
class InvalidConversion extends Error {}

/** The longest time that the real server waits for a request. */
const TIMEOUT_SECONDS = 30;

/** The conversion of a CRD whose strategy is `Webhook`. A failure becomes a 500 in the real server's wording. */
export function webhookConversion(options: ConversionWebhookOptions): Conversion {
  const { servedApiVersion, storedApiVersion } = options;
  return {
    toServed: (objects, signal) => convert(options, objects, servedApiVersion, signal),
    toStored: (objects, signal) => convert(options, objects, storedApiVersion, signal),
  };
}

async function convert(
  { caller, random, clientConfig, reviewVersions }: ConversionWebhookOptions,
  objects: readonly KubeObject[],
  desired: string,
  signal: AbortSignal,
): Promise<readonly KubeObject[]> {
  const outdated = objects.filter(({ apiVersion }) => apiVersion !== desired);
  if (outdated.length === 0) return objects;
  const what = goKind(outdated[0]!);
  const uid = newUid(random);
  let results: readonly Json[];
  try {
    if (!reviewVersions.includes("v1")) throw new WebhookCallError("no supported conversion review versions");
    const request = { uid, desiredAPIVersion: desired, objects: outdated };
    const review = { ...REVIEW, request } as unknown as JsonObject;
    results = readConverted(await caller.call(clientConfig, review, { timeoutSeconds: TIMEOUT_SECONDS, signal }), uid);
  } catch (error) {
    if (!(error instanceof WebhookCallError)) throw error;
    throw unexpected(`conversion webhook for ${what} failed: ${error.message}`);
  }
  if (results.length !== outdated.length) {
    throw unexpected(`conversion webhook for ${what} returned ${results.length} objects, expected ${outdated.length}`);
  }
  const byOriginal = new Map(
    outdated.map((original, index) => {
      try {
        return [original, restored(original, results[index]!, desired)];
      } catch (error) {
        if (!(error instanceof InvalidConversion)) throw error;
        throw unexpected(
          `conversion webhook for ${what} returned invalid converted object at index ${index}: ${error.message}`,
        );
      }
    }),
  );
  return objects.map((object) => byOriginal.get(object) ?? object);
}

function readConverted(answer: JsonObject, uid: string): readonly Json[] {
  if (answer.kind !== REVIEW.kind || answer.apiVersion !== REVIEW.apiVersion) {
    const [group, version] = String(answer.apiVersion).split("/");
    throw new WebhookCallError(
      `expected webhook response of apiextensions.k8s.io/v1, Kind=ConversionReview, got ${group}/${version}, Kind=${answer.kind}`,
    );
  }
  const { response } = answer;
  if (!isObject(response)) throw new WebhookCallError("no response provided");
  const given = typeof response.uid === "string" ? response.uid : "";
  if (given !== uid) throw new WebhookCallError(`expected response.uid=${goQuote(uid)}, got ${goQuote(given)}`);
  const result = isObject(response.result) ? response.result : {};
  if (result.status !== "Success") {
    const message = typeof result.message === "string" ? result.message : "";
    throw new WebhookCallError(message || `response.result.status was '${result.status ?? ""}', not 'Success'`);
  }
  return Array.isArray(response.convertedObjects) ? response.convertedObjects : [];
}

/** The converted object with the original metadata. A webhook may change only labels and annotations there. */
function restored(original: KubeObject, converted: Json, desired: string): KubeObject {
  const refuse = (why: string): InvalidConversion => new InvalidConversion(why);
  if (!isObject(converted)) throw refuse("not an object");
  if (converted.apiVersion !== desired) {
    throw refuse(`invalid groupVersion (expected ${desired}, received ${String(converted.apiVersion)})`);
  }
  if (converted.kind !== original.kind) {
    throw refuse(`invalid kind (expected ${original.kind}, received ${String(converted.kind)})`);
  }
  const { metadata } = converted;
  if (!isObject(metadata)) throw refuse("missing metadata in converted object");
  const own = original.metadata;
  for (const [word, before, after] of [
    ["name", own.name, metadata.name],
    ["namespace", own.namespace, metadata.namespace],
    ["UID", own.uid, metadata.uid],
  ] as const) {
    if ((before ?? "") !== (after ?? "")) throw refuse(`must have the same ${word}: ${before ?? ""} != ${after ?? ""}`);
  }
  const { labels: _labels, annotations: _annotations, ...kept } = own;
  return {
    ...converted,
    metadata: {
      ...kept,
      ...(isObject(metadata.labels) && { labels: metadata.labels }),
      ...(isObject(metadata.annotations) && { annotations: metadata.annotations }),
    },
  } as unknown as KubeObject;
}

/** `example.com/v1, Kind=Thing` */
function goKind({ apiVersion, kind }: KubeObject): string {
  return `${apiVersion}, Kind=${kind}`;
}
