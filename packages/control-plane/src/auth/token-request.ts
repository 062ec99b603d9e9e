import type { KubeObject } from "setpoint";
import { formatTime } from "setpoint/kinds";
import { goQuote } from "../api/go-format.js";
import { badRequest, conflict, type FieldError, invalid, notFound } from "../api/status-error.js";
import type { Storage } from "../storage/storage.js";
import type { BoundClaims, ServiceAccountTokens } from "./service-account-tokens.js";

export interface TokenRequest extends KubeObject {
  readonly spec?: {
    readonly audiences?: readonly string[] | null;
    readonly expirationSeconds?: number | null;
    readonly boundObjectRef?: BoundObjectReference | null;
  };
}

interface BoundObjectReference {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly name?: string;
  readonly uid?: string;
}

const KIND = { group: "authentication.k8s.io", resource: "TokenRequest" };
const DEFAULT_SECONDS = 3600;
const SHORTEST_SECONDS = 600;
const LONGEST_SECONDS = 2 ** 32;

/** Answers a create on `serviceaccounts/x/token`: the request with a token in its status. Stores nothing. */
export function createToken(
  environment: {
    readonly storage: Storage;
    readonly tokens: ServiceAccountTokens;
    readonly audiences: readonly string[];
    readonly nowMs: number;
  },
  request: TokenRequest,
  namespace: string,
  name: string,
): TokenRequest {
  const { storage, tokens, nowMs } = environment;
  const asked = request.metadata?.name;
  if (asked && asked !== name) {
    const detail = `Invalid value: ${goQuote(asked)}: must match the service account name if specified`;
    throw invalid(KIND, name, [{ type: "FieldValueInvalid", field: "metadata.name", detail }]);
  }
  const account = storage.get("/serviceaccounts", `${namespace}/${name}`)?.object;
  if (!account) throw notFound({ group: "", resource: "serviceaccounts" }, name);
  const { uid } = account.metadata;
  const askedUid = request.metadata?.uid;
  if (askedUid && askedUid !== uid) {
    const why = `the UID in the token request (${askedUid}) does not match the UID of the service account (${uid})`;
    throw conflict(KIND, name, why);
  }
  const seconds = request.spec?.expirationSeconds ?? DEFAULT_SECONDS;
  const errors = secondsErrors(seconds);
  if (errors.length > 0) throw invalid(KIND, "", errors);
  const audiences = request.spec?.audiences?.length ? request.spec.audiences : environment.audiences;
  const reference = request.spec?.boundObjectRef ?? null;
  const bound = reference === null ? {} : boundClaims(storage, reference, namespace, name);
  return {
    apiVersion: "authentication.k8s.io/v1",
    kind: "TokenRequest",
    metadata: { ...request.metadata, name, namespace, uid, creationTimestamp: formatTime(nowMs) },
    spec: { audiences, expirationSeconds: seconds, boundObjectRef: reference },
    status: {
      token: tokens.issue(account, audiences, seconds, bound),
      expirationTimestamp: formatTime(nowMs + seconds * 1000),
    },
  } as unknown as TokenRequest;
}

function secondsErrors(seconds: number): readonly FieldError[] {
  const why =
    seconds < SHORTEST_SECONDS
      ? "may not specify a duration less than 10 minutes"
      : seconds > LONGEST_SECONDS
        ? "may not specify a duration larger than 2^32 seconds"
        : undefined;
  if (why === undefined) return [];
  return [{ type: "FieldValueInvalid", field: "spec.expirationSeconds", detail: `Invalid value: ${seconds}: ${why}` }];
}

function boundClaims(
  storage: Storage,
  reference: BoundObjectReference,
  namespace: string,
  account: string,
): BoundClaims {
  const { kind = "", apiVersion = "", name = "" } = reference;
  const found = (plural: string, key: string): KubeObject => {
    const object = storage.get(`/${plural}`, key)?.object;
    if (!object) throw notFound({ group: "", resource: plural }, name);
    const { uid } = object.metadata;
    if (reference.uid && reference.uid !== uid) {
      const why = `the UID in the bound object reference (${reference.uid}) does not match the UID in record. The object might have been deleted and then recreated`;
      throw conflict({ group: "", resource: kind }, name, why);
    }
    return object;
  };
  const claim = ({ metadata }: KubeObject) => ({ name: metadata.name, uid: metadata.uid });
  if (apiVersion.includes("/") || !["Pod", "Node", "Secret"].includes(kind)) {
    const [version, group = ""] = apiVersion.split("/").reverse();
    throw badRequest(`cannot bind token to object of type ${group}/${version}, Kind=${kind}`);
  }
  if (kind === "Secret") return { secret: claim(found("secrets", `${namespace}/${name}`)) };
  if (kind === "Node") return { node: claim(found("nodes", name)) };
  const pod = found("pods", `${namespace}/${name}`) as KubeObject & {
    readonly spec?: { readonly serviceAccountName?: string; readonly nodeName?: string };
  };
  if ((pod.spec?.serviceAccountName ?? "") !== account) {
    throw badRequest(
      `cannot bind token for serviceaccount ${goQuote(account)} to pod running with different serviceaccount name.`,
    );
  }
  const nodeName = pod.spec?.nodeName;
  if (!nodeName) return { pod: claim(pod) };
  const node = storage.get("/nodes", nodeName)?.object;
  return { pod: claim(pod), node: node ? claim(node) : { name: nodeName } };
}
