import type { Environment } from "../cluster/in-cluster.js";
import { isLoopbackHost } from "../cluster/loopback.js";
import { parseServer } from "../cluster/server-address.js";

/**
 * The proxy of the environment for a server, by the rules of Go and kubectl: `HTTPS_PROXY` or `HTTP_PROXY` by the
 * server's scheme, also in lower case, never for loopback, and not for the hosts of `NO_PROXY`.
 */
export function proxyFromEnvironment(server: string, env: Environment): string | undefined {
  const { host, port, secure } = parseServer(server);
  const proxy = secure ? env.HTTPS_PROXY || env.https_proxy : env.HTTP_PROXY || env.http_proxy;
  if (!proxy || isLoopbackHost(host)) return undefined;
  const exceptions = (env.NO_PROXY || env.no_proxy || "").toLowerCase().split(",");
  if (exceptions.some((exception) => isExcepted(exception.trim(), host.toLowerCase(), port))) return undefined;
  return proxy.includes("://") ? proxy : `http://${proxy}`;
}

/** Loaded only if a proxy is set, because few processes need it. */
const net = (): typeof import("node:net") => process.getBuiltinModule("node:net");

/** One entry of `NO_PROXY`: `*`, a range of addresses, an address, or a domain with its subdomains; each may have a port. */
function isExcepted(exception: string, host: string, port: number): boolean {
  if (exception === "") return false;
  if (exception === "*") return true;
  if (exception.includes("/")) return isInRange(exception, host);
  const { name, port: exceptedPort } = splitPort(exception);
  if (exceptedPort !== undefined && exceptedPort !== port) return false;
  const { isIP } = net();
  if (isIP(name) !== 0 || isIP(host) !== 0) return name === host;
  if (name === "") return false;
  const domain = name.replace(/^\*\./, ".");
  return domain.startsWith(".") ? host.endsWith(domain) : host === domain || host.endsWith(`.${domain}`);
}

/** `name`, `name:port` or `[address]:port`. */
function splitPort(text: string): { readonly name: string; readonly port?: number } {
  if (net().isIP(text) !== 0) return { name: text };
  const [, name = "", port] = /^\[?(.*?)\]?(?::(\d+))?$/.exec(text) ?? [];
  return port === undefined ? { name } : { name, port: Number(port) };
}

function isInRange(range: string, host: string): boolean {
  const { BlockList, isIP } = net();
  const [network = "", bits = ""] = range.split("/");
  const family = isIP(network);
  const isRange = family !== 0 && /^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128);
  if (!isRange || isIP(host) !== family) return false;
  const type = family === 4 ? "ipv4" : "ipv6";
  const list = new BlockList();
  list.addSubnet(network, Number(bits), type);
  return list.check(host, type);
}
