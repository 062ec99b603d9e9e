import { Buffer } from "node:buffer";
import type { RawRequest, RequestVerb } from "./client.js";

/** The request of a warning. */
export interface WarnedRequest {
  readonly verb: RequestVerb;
  /** `Deployment`; undefined for a request to no kind. */
  readonly kind: string | undefined;
  readonly subresource: string | undefined;
  /** `team/web`; undefined for a request to many. */
  readonly object: string | undefined;
}

export function warnedRequest(request: RawRequest): WarnedRequest {
  const { method, kind, subresource } = request;
  const verb = request.verb ?? (method.toLowerCase() as RequestVerb);
  return { verb, kind: kind?.kind, subresource, object: objectOf(request) };
}

/** The path names the object, unless the request creates it. */
function objectOf({ verb, kind, path, body }: RawRequest): string | undefined {
  if (!kind) return undefined;
  const steps = path.split("?", 1)[0]!.split("/");
  const rest = steps.slice(kind.group === "" ? 3 : 4);
  const [namespace, name] = rest[2] === kind.plural ? [rest[1], rest[3]] : [undefined, rest[1]];
  const known = name ?? (verb === "create" ? nameIn(body) : undefined);
  return known && namespace ? `${namespace}/${known}` : known;
}

function nameIn(body: Uint8Array = new Uint8Array()): string | undefined {
  try {
    const { metadata } = JSON.parse(Buffer.from(body).toString()) as { metadata?: Record<string, string> };
    return metadata?.name ?? metadata?.generateName;
  } catch {
    // The body of a raw request may be anything.
    return undefined;
  }
}
