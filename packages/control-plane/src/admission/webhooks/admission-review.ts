import type { KubeObject } from "setpoint";
import { goQuote } from "../../api/go-format.js";
import { isObject, type Json, type JsonObject } from "../../api/json.js";
import { type StatusDetails, StatusError } from "../../api/status-error.js";
import type { AdmissionAttributes } from "../../registry/write/admission.js";
import { WebhookCallError } from "./webhook-caller.js";
import { admissionNamespace, type Invocation } from "./webhook-matching.js";

const GROUP = "admission.k8s.io";
const KIND = "AdmissionReview";
/** Kinds that every Go scheme has. */
const UNVERSIONED: ReadonlySet<string> = new Set([
  "Status",
  "APIVersions",
  "APIGroup",
  "APIGroupList",
  "APIResourceList",
]);

/** The AdmissionReview version of a call. */
export type ReviewVersion = "v1" | "v1beta1";

/** The first version in the webhook's list that this server supports. Undefined if there is none. */
export function reviewVersion(accepted: readonly string[] | null | undefined): ReviewVersion | undefined {
  return (accepted ?? []).find((version): version is ReviewVersion => version === "v1" || version === "v1beta1");
}

/** The AdmissionReview for a webhook, with the objects at the version that the webhook matched. */
export function admissionReview(
  attributes: AdmissionAttributes,
  { definition }: Invocation,
  objects: { readonly object: KubeObject | undefined; readonly oldObject: KubeObject | undefined },
  uid: string,
  version: ReviewVersion,
): JsonObject {
  const { subresource, operation, user, dryRun, options } = attributes;
  const requested = attributes.definition;
  const namespace = admissionNamespace(attributes);
  const kindOf = ({ group, version, kind, subresources }: typeof definition) => {
    const part = subresources.find(({ name }) => name === subresource);
    return part ? { group: part.group, version: part.version, kind: part.kind } : { group, version, kind };
  };
  const resourceOf = ({ group, version, plural }: typeof definition) => ({ group, version, resource: plural });
  return {
    kind: KIND,
    apiVersion: `${GROUP}/${version}`,
    request: {
      uid,
      kind: kindOf(definition),
      resource: resourceOf(definition),
      ...(subresource && { subResource: subresource }),
      requestKind: kindOf(requested),
      requestResource: resourceOf(requested),
      ...(subresource && { requestSubResource: subresource }),
      ...(attributes.name && { name: attributes.name }),
      ...(namespace && { namespace }),
      operation,
      userInfo: {
        username: user.name,
        ...(user.uid && { uid: user.uid }),
        ...(user.groups.length > 0 && { groups: user.groups }),
        ...(user.extra && { extra: user.extra }),
      },
      object: objects.object ?? null,
      oldObject: objects.oldObject ?? null,
      dryRun,
      options: shownOptions(options, operation),
    },
  } as unknown as JsonObject;
}

/** Webhooks see a patch as a create or an update. */
function shownOptions(options: AdmissionAttributes["options"], operation: AdmissionAttributes["operation"]): object {
  if (options.kind !== "PatchOptions") return options;
  const { force: _force, ...rest } = options;
  return { ...rest, kind: operation === "CREATE" ? "CreateOptions" : "UpdateOptions" };
}

/** The response of a webhook, after validation. */
export interface AdmissionVerdict {
  readonly allowed: boolean;
  readonly status: JsonObject | undefined;
  readonly warnings: readonly string[];
  /** The text of a JSON patch; empty if there is none. */
  readonly patch: string;
  readonly patchType: string;
}

/** Reads the response. Throws a `WebhookCallError` if it is not a review of this request. */
export function readVerdict(
  answer: JsonObject,
  uid: string,
  isMutating: boolean,
  version: ReviewVersion,
): AdmissionVerdict {
  const { response } = answer;
  const invalid = (why: string) => new WebhookCallError(`received invalid webhook response: ${why}`);
  checkKind(answer, version);
  if (!isObject(response)) throw invalid("webhook response was absent");
  if (version === "v1beta1") return betaVerdict(response, isMutating);
  const given = text(response.uid);
  if (given !== uid) throw invalid(`expected response.uid=${goQuote(uid)}, got ${goQuote(given)}`);
  if (!answer.kind || !answer.apiVersion) {
    const [, group = "", name = ""] = /^(.*?)\/?([^/]*)$/.exec(text(answer.apiVersion))!;
    throw invalid(
      `expected webhook response of admission.k8s.io/v1, Kind=${KIND}, got ${group}/${name}, Kind=${text(answer.kind)}`,
    );
  }
  const patch = Buffer.from(text(response.patch), "base64").toString("utf8");
  const hasType = response.patchType !== undefined && response.patchType !== null;
  if (isMutating) {
    if (patch !== "" && !hasType) throw invalid("webhook returned response.patch but not response.patchType");
    if (patch === "" && hasType) throw invalid("webhook returned response.patchType but not response.patch");
    if (hasType && response.patchType === "") throw invalid('webhook returned invalid response.patchType of ""');
  } else {
    if (patch !== "") throw invalid("validating webhook may not return response.patch");
    if (hasType) throw invalid("validating webhook may not return response.patchType");
  }
  return { ...spoken(response), patch, patchType: text(response.patchType) };
}

/** v1beta1 does not check the uid of the response, and its patches are JSON patches without a patchType. */
function betaVerdict(response: JsonObject, isMutating: boolean): AdmissionVerdict {
  const patch = isMutating ? Buffer.from(text(response.patch), "base64").toString("utf8") : "";
  return { ...spoken(response), patch, patchType: patch === "" ? "" : "JSONPatch" };
}

function spoken(response: JsonObject): Pick<AdmissionVerdict, "allowed" | "status" | "warnings"> {
  return {
    allowed: response.allowed === true,
    status: isObject(response.status) ? response.status : undefined,
    warnings: Array.isArray(response.warnings) ? response.warnings.filter((each) => typeof each === "string") : [],
  };
}

/** A missing kind or version means the requested one. */
function checkKind(answer: JsonObject, wanted: ReviewVersion): void {
  const kind = text(answer.kind) || KIND;
  const apiVersion = text(answer.apiVersion) || `${GROUP}/${wanted}`;
  if (kind === KIND && apiVersion === `${GROUP}/${wanted}`) return;
  const isKnown =
    kind === KIND
      ? /^admission\.k8s\.io\/v1(?:beta1)?$/.test(apiVersion)
      : apiVersion === "v1" && UNVERSIONED.has(kind);
  const why = isKnown
    ? `converting (${apiVersion.slice(apiVersion.indexOf("/") + 1)}.${kind}) to (${wanted}.${KIND}): unknown conversion`
    : `no kind ${goQuote(kind)} is registered for version ${goQuote(apiVersion)} in scheme "pkg/runtime/scheme.go:111"`;
  throw new WebhookCallError(`failed to call webhook: ${why}`);
}

function text(value: Json | undefined): string {
  return typeof value === "string" ? value : "";
}

/** The error for a request that a webhook denied: the status of the webhook, with its name before the message. */
export function denial(webhook: string, status: JsonObject | undefined): StatusError {
  const by = `admission webhook ${goQuote(webhook)} denied the request`;
  const { message, reason, code, details } = status ?? {};
  const why = text(message) || text(reason);
  const isError = typeof code === "number" && code >= 400;
  return new StatusError(
    isError ? code : 400,
    text(reason) || undefined,
    why === "" ? `${by} without explanation` : `${by}: ${why}`,
    isObject(details) ? (details as unknown as StatusDetails) : undefined,
  );
}
