import { Buffer } from "node:buffer";
import type { Kind } from "../kinds/kind.js";
import type { CallOptions, SubresourceOption } from "./client.js";
import type { OutgoingRequest } from "./request-sender.js";

const METHODS = {
  get: "GET",
  list: "GET",
  watch: "GET",
  create: "POST",
  update: "PUT",
  patch: "PATCH",
  apply: "PATCH",
  delete: "DELETE",
  deletecollection: "DELETE",
} as const;

export const PATCH_TYPES = {
  json: "application/json-patch+json",
  merge: "application/merge-patch+json",
  strategic: "application/strategic-merge-patch+json",
  apply: "application/apply-patch+yaml",
} as const;

const ACCEPT_JSON = { accept: "application/json" };

/** The request of a verb on a kind, with a body of JSON where one is given. */
export function apiCall(
  verb: keyof typeof METHODS,
  kind: Kind,
  path: string,
  options: CallOptions & SubresourceOption,
  body?: unknown,
  contentType = "application/json",
): OutgoingRequest {
  const { signal, subresource } = options;
  const method = METHODS[verb];
  if (body === undefined) return { verb, kind, subresource, method, path, headers: ACCEPT_JSON, signal };
  return {
    verb,
    kind,
    subresource,
    method,
    path,
    headers: { accept: "application/json", "content-type": contentType },
    signal,
    body: Buffer.from(JSON.stringify(body), "utf8"),
    // Server-side apply is idempotent.
    idempotent: verb === "apply",
  };
}
