import { Namespace, Service } from "setpoint/kinds/v1";
import { invalidSpec } from "../errors.js";
import { MCPServer } from "../kinds/mcp-server.js";
import type { Header, Tls } from "../kinds/parts.js";
import { RemoteMCPServer } from "../kinds/remote-mcp-server.js";
import { parseGoUrl } from "./go-url.js";
import { type Objects, required } from "./objects.js";

export const SERVICE_LABEL = "kagent.dev/mcp-service";
export const SERVICE_PORT = "kagent.dev/mcp-service-port";
export const SERVICE_PATH = "kagent.dev/mcp-service-path";
export const SERVICE_PROTOCOL = "kagent.dev/mcp-service-protocol";
const DEFAULT_TIMEOUT = "30s";
const DEFAULT_PATH = "/mcp";

/** A tool server of any kind, with the fields of a RemoteMCPServer. */
export interface ToolServer {
  readonly kind: "RemoteMCPServer" | "MCPServer" | "Service";
  readonly name: string;
  readonly namespace: string;
  readonly description: string;
  readonly url: string;
  readonly protocol: "SSE" | "STREAMABLE_HTTP";
  readonly headersFrom?: readonly Header[] | undefined;
  readonly timeout?: string | undefined;
  readonly sseReadTimeout?: string | undefined;
  readonly terminateOnClose?: boolean | undefined;
  readonly tls?: Tls | undefined;
  readonly secretHash?: string | undefined;
}

/** An Agent's reference to a tool server. */
export interface ToolServerReference {
  readonly kind?: string | undefined;
  readonly apiGroup?: string | undefined;
  readonly name: string;
  readonly namespace?: string | undefined;
}

/** The kind that a reference means; undefined for an unknown kind. An empty kind means MCPServer. */
export function toolServerKind({ kind = "", apiGroup = "" }: ToolServerReference): ToolServer["kind"] | undefined {
  const isOurs = apiGroup === "" || apiGroup === "kagent.dev";
  if ((kind === "" && apiGroup === "") || (kind === "MCPServer" && isOurs)) return "MCPServer";
  if (kind === "RemoteMCPServer" && isOurs) return "RemoteMCPServer";
  if (kind === "Service" && (apiGroup === "" || apiGroup === "core")) return "Service";
  return undefined;
}

export async function findToolServer(
  objects: Objects,
  reference: ToolServerReference,
  agentNamespace: string,
): Promise<ToolServer> {
  const { name, kind = "", apiGroup = "" } = reference;
  const namespace = reference.namespace || agentNamespace;
  switch (toolServerKind(reference)) {
    case "MCPServer":
      return ofMcpServer(await required(objects, MCPServer, name, namespace));
    case "RemoteMCPServer":
      return ofRemoteMcpServer(await required(objects, RemoteMCPServer, name, namespace));
    case "Service":
      return ofService(await required(objects, Service, name, namespace));
    default:
      throw invalidSpec(`unknown tool server type: ${apiGroup === "" ? kind : `${kind}.${apiGroup}`}`);
  }
}

export function ofRemoteMcpServer({ metadata, spec, status }: RemoteMCPServer): ToolServer {
  const { description = "", url, protocol, headersFrom, timeout, sseReadTimeout, terminateOnClose, tls } = spec;
  return {
    kind: "RemoteMCPServer",
    name: metadata.name,
    namespace: metadata.namespace ?? "",
    description,
    url,
    protocol: protocol === "SSE" ? "SSE" : "STREAMABLE_HTTP",
    headersFrom,
    timeout,
    sseReadTimeout,
    terminateOnClose,
    tls,
    secretHash: status?.secretHash,
  };
}

export function ofMcpServer({ metadata, spec }: MCPServer): ToolServer {
  const { name, namespace = "" } = metadata;
  const port = spec.deployment?.port ?? 0;
  if (port === 0) throw invalidSpec(`cannot determine port for MCP server ${name}: spec.deployment.port is 0`);
  const url = `http://${name}.${namespace}:${port}${DEFAULT_PATH}`;
  const timeout = spec.timeout ?? DEFAULT_TIMEOUT;
  return { kind: "MCPServer", name, namespace, description: "N/A", url, protocol: "STREAMABLE_HTTP", timeout };
}

export function ofService({ metadata, spec }: Service): ToolServer {
  const { name, namespace = "", annotations = {} } = metadata;
  const port = servicePort(name, annotations[SERVICE_PORT], spec?.ports ?? []);
  const url = `http://${name}.${namespace}:${port}${annotations[SERVICE_PATH] ?? DEFAULT_PATH}`;
  const protocol = annotations[SERVICE_PROTOCOL] === "SSE" ? "SSE" : "STREAMABLE_HTTP";
  return { kind: "Service", name, namespace, description: "N/A", url, protocol };
}

function servicePort(
  name: string,
  hint: string | undefined,
  ports: readonly { readonly port: number; readonly appProtocol?: string }[],
): number {
  if (hint !== undefined && !/^[+-]?\d+$/.test(hint)) {
    throw invalidSpec(`metadata.annotations[${SERVICE_PORT}]: ${JSON.stringify(hint)} is not a valid integer`);
  }
  if (hint !== undefined && Number(hint) !== 0) return Number(hint);
  const found = ports.length === 1 ? ports[0] : ports.find(({ appProtocol }) => appProtocol?.toLowerCase() === "mcp");
  if (found) return found.port;
  throw invalidSpec(`no port found for service ${name}: it has ${ports.length}, none with the protocol mcp`);
}

/** Whether a URL points to a Service of this cluster. */
export async function isInternalUrl(objects: Objects, text: string): Promise<boolean> {
  const hostname = parseGoUrl(text)?.hostname ?? "";
  if (hostname.endsWith(".svc.cluster.local")) return true;
  const parts = hostname.split(".");
  if (parts.length !== 2 || parts[1] === "") return false;
  return (await objects.find(Namespace, parts[1]!, "")) !== undefined;
}

/** Rewrites a URL to go through the proxy, and adds the headers that tell the proxy the original host. */
export function throughProxy(
  original: string,
  proxy: string,
  headers: Readonly<Record<string, string>>,
): { readonly url: string; readonly headers: Readonly<Record<string, string>> } {
  const from = parseGoUrl(original);
  const to = parseGoUrl(proxy);
  if (!from) throw invalidSpec(`failed to parse original URL ${JSON.stringify(original)}`);
  if (!to) throw invalidSpec(`failed to parse proxy URL ${JSON.stringify(proxy)}`);
  return {
    url: `${to.scheme}://${to.host}${from.path}`,
    headers: { ...headers, "x-kagent-host": from.hostname },
  };
}

/** Rewrites a URL to plain HTTP, for a proxy that originates TLS. */
export function plaintextUrl({ url, tls }: ToolServer): string {
  const parsed = parseGoUrl(url.includes("://") ? url : `//${url}`);
  if (!parsed || parsed.hostname === "" || !["", "http", "https"].includes(parsed.scheme)) return url;
  const port = parsed.port || (tls !== undefined || parsed.scheme === "https" ? "443" : "80");
  const host = parsed.hostname.includes(":") ? `[${parsed.hostname}]` : parsed.hostname;
  return `http://${host}:${port}${parsed.rest}`;
}
