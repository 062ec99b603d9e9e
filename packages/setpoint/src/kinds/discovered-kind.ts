import { SetpointError } from "../errors/error.js";
import type { UntypedKind } from "./kind.js";
import { parseKindId } from "./kind-id.js";

/** What {@link discoverKind} needs from a client. */
export interface DiscoveryClient {
  raw(request: { readonly method: "GET"; readonly path: string; readonly signal?: AbortSignal }): Promise<{
    readonly status: number;
    readonly body: AsyncIterable<Uint8Array>;
  }>;
}

interface ResourceList {
  readonly resources?: readonly { readonly name: string; readonly kind: string; readonly namespaced: boolean }[];
}

/**
 * Asks the server for a kind, with its plural and scope. Rejects with `KIND_NOT_SERVED`, whose message lists what is
 * served instead, or `DISCOVERY_FAILED`.
 *
 * ```ts
 * const Certificate = await discoverKind(client, "cert-manager.io/v1/Certificate");
 * ```
 */
export async function discoverKind(
  client: DiscoveryClient,
  id: `${string}/${string}`,
  options: { readonly signal?: AbortSignal } = {},
): Promise<UntypedKind> {
  const { group, version, kind, apiVersion } = parseKindId(id);
  const path = group ? `/apis/${group}/${version}` : `/api/${version}`;
  const response = await client.raw({ method: "GET", path, ...(options.signal ? { signal: options.signal } : {}) });
  const text = await readText(response.body);
  if (response.status === 404) throw notServed(id, `the server has no API version ${apiVersion}`);
  const { resources } = response.status === 200 ? parse(text, path) : {};
  if (!resources) throw failed(path, `status ${response.status}: ${text.slice(0, 200)}`);
  const found = resources.find((resource) => resource.kind === kind && !resource.name.includes("/"));
  if (found) {
    return { group, version, kind, apiVersion, plural: found.name, scope: found.namespaced ? "Namespaced" : "Cluster" };
  }
  const served = [...new Set(resources.filter(({ name }) => !name.includes("/")).map((resource) => resource.kind))];
  throw notServed(id, `${apiVersion} has ${served.sort().join(", ") || "no kinds"}`);
}

async function readText(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks).toString("utf8");
}

function parse(text: string, path: string): ResourceList {
  try {
    return JSON.parse(text) as ResourceList;
  } catch (cause) {
    throw failed(path, `the answer is not JSON: ${text.slice(0, 200)}`, cause);
  }
}

function notServed(id: string, why: string): SetpointError {
  return new SetpointError("KIND_NOT_SERVED", `${id} is not served: ${why}`);
}

function failed(path: string, why: string, cause?: unknown): SetpointError {
  return new SetpointError("DISCOVERY_FAILED", `${path}: ${why}`, cause === undefined ? undefined : { cause });
}
