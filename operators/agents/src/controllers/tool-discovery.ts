import { createHash } from "node:crypto";
import type { KubeObject, ReconcileContext } from "setpoint";
import { formatTime } from "setpoint/kinds";
import { Secret } from "setpoint/kinds/v1";
import type { ServerId, Tool } from "../database/store.js";
import type { TlsMaterial } from "../discovery/http-exchange.js";
import { AgentsError, type AgentsErrorCode } from "../errors.js";
import type { Tls } from "../kinds/parts.js";
import { effectiveUrl } from "../spec-problems.js";
import { goDurationMs } from "../translate/go-duration.js";
import { type Objects, required, resolveHeaders, secretValue } from "../translate/objects.js";
import { plaintextUrl, type ToolServer } from "../translate/tool-server.js";
import { type Shared, shortened, type ToolTarget } from "./shared.js";
import { groupKindOf } from "./usage.js";

/** How often to list this object's tools; at least one second. Invalid durations are ignored. */
export const INTERVAL_ANNOTATION = "kagent.dev/tool-refresh-interval";
/** Every new value lists the tools at once. */
export const REFRESH_ANNOTATION = "kagent.dev/refresh-tools";
const DEFAULT_TIMEOUT_MS = 30_000;
const MIN_INTERVAL_MS = 1_000;
/** Limits the tools in the status, because an object can have at most 1.5 MB. */
const MAX_STATUS_BYTES = 256 * 1024;

/** The state of a server's tool discovery. `tools` is the last successful list, even after failures. */
export type Discovered =
  | { readonly type: "pending"; readonly tools: readonly Tool[] }
  | { readonly type: "listed"; readonly tools: readonly Tool[] }
  | { readonly type: "failed"; readonly reason: string; readonly message: string; readonly tools: readonly Tool[] };

const REASONS: Partial<Record<AgentsErrorCode, string>> = {
  MCP_UNREACHABLE: "Unreachable",
  MCP_TIMEOUT: "Timeout",
  MCP_TLS: "TLSFailed",
  MCP_UNAUTHORIZED: "Unauthorized",
  MCP_HTTP_STATUS: "HTTPError",
  MCP_NOT_MCP: "NotMCP",
  MCP_PROTOCOL: "ProtocolError",
  MCP_TOO_LARGE: "TooLarge",
};

export const serverIdOf = ({ kind, namespace, name }: Pick<ToolServer, "kind" | "namespace" | "name">): ServerId => ({
  name: `${namespace}/${name}`,
  groupKind: groupKindOf(kind),
});
export const probeIdOf = ({ name, groupKind }: ServerId): string => `${groupKind} ${name}`;

/** Stores the row of a server, even of an invalid or unreachable one, so that the API lists it. */
export async function storeServer(
  id: ServerId,
  { metadata }: KubeObject,
  description: string,
  { store }: Shared,
  ctx: Pick<ReconcileContext, "effect">,
): Promise<void> {
  const row = { ...id, uid: metadata.uid!, description: description || "N/A" };
  await ctx.effect("store the tool server", () => store.putServer(row), { planned: false });
}

/**
 * Requests a listing of the server's tools in the background, and returns the current state. Never waits for the
 * server: its answer requeues the object, and that run stores the tools in one transaction. Call {@link storeServer}
 * first. Throws if a referenced header value or CA is missing.
 */
export async function discoverTools(
  server: ToolServer,
  object: KubeObject,
  objects: Objects,
  shared: Shared,
  ctx: Pick<ReconcileContext, "effect">,
): Promise<Discovered> {
  const { store, tools: probes } = shared;
  const id = serverIdOf(server);
  const uid = object.metadata.uid!;
  const target = await targetOf(server, object.metadata, objects, shared);
  probes.want(target);
  const result = probes.result(target);
  if (result?.type === "answer") {
    const at = formatTime(result.at);
    await ctx.effect("store its tools", () => store.replaceTools(id, uid, result.answer.tools, at), { planned: false });
  }
  const tools = await store.tools(id);
  if (!result) return { type: "pending", tools };
  if (result.type === "answer") return { type: "listed", tools };
  const { error } = result;
  const reason = (error instanceof AgentsError && REASONS[error.code]) || "DiscoveryFailed";
  return { type: "failed", reason, message: shortened((error as Error).message), tools };
}

async function targetOf(
  server: ToolServer,
  { uid, generation, annotations = {} }: KubeObject["metadata"],
  objects: Objects,
  { settings, refreshMs }: Shared,
): Promise<ToolTarget> {
  const headers = await resolveHeaders(objects, server.headersFrom, server.namespace);
  const isPlain = settings.plaintextEgress && server.kind === "RemoteMCPServer";
  const url = isPlain ? plaintextUrl(server) : effectiveUrl(server as { url: string });
  const tls = server.tls && !isPlain ? await tlsMaterial(server.tls, server.namespace, objects) : undefined;
  const question = JSON.stringify([url, server.protocol, headers, tls ?? null, annotations[REFRESH_ANNOTATION] ?? ""]);
  const ownMs = goDurationMs(annotations[INTERVAL_ANNOTATION] ?? "") ?? 0;
  return {
    id: probeIdOf(serverIdOf(server)),
    uid: uid!,
    generation: generation ?? 0,
    fingerprint: createHash("sha256").update(question).digest("hex"),
    host: new URL(url).host,
    timeoutMs: (server.timeout !== undefined && goDurationMs(server.timeout)) || DEFAULT_TIMEOUT_MS,
    intervalMs: ownMs > 0 ? Math.max(ownMs, MIN_INTERVAL_MS) : refreshMs,
    url,
    headers,
    protocol: server.protocol,
    tls,
  };
}

async function tlsMaterial(tls: Tls, namespace: string, objects: Objects): Promise<TlsMaterial> {
  const { caCertSecretRef, caCertSecretKey, clientCertSecretRef } = tls;
  const ca = caCertSecretRef
    ? await secretValue(objects, caCertSecretRef, caCertSecretKey ?? "", namespace)
    : undefined;
  const client = clientCertSecretRef
    ? {
        cert: await secretValue(objects, clientCertSecretRef, "tls.crt", namespace),
        key: await secretValue(objects, clientCertSecretRef, "tls.key", namespace),
      }
    : {};
  return { ca, withoutSystemCa: tls.disableSystemCAs ?? false, verify: !tls.disableVerify, ...client };
}

/** The CA's Secret, for the hash in the status. */
export async function caSecret(tls: Tls | undefined, namespace: string, objects: Objects) {
  return tls?.caCertSecretRef ? required(objects, Secret, tls.caCertSecretRef, namespace) : undefined;
}

/** The first tools, as many as fit into the status. */
export function fittingTools(tools: readonly Tool[]): readonly Tool[] {
  let left = MAX_STATUS_BYTES;
  const fitting: Tool[] = [];
  for (const { name, description } of tools) {
    left -= Buffer.byteLength(JSON.stringify({ name, description })) + 1;
    if (left < 0) break;
    fitting.push({ name, description });
  }
  return fitting;
}

export function listedMessage(total: number, listed: number): string {
  const counted = `${total} tool${total === 1 ? "" : "s"} discovered`;
  return listed === total ? counted : `${counted}; the first ${listed} are listed here, all of them in the database`;
}
