import { BlockList, isIP } from "node:net";
import type { Environment } from "./in-cluster.js";
import { parseServer } from "./server-address.js";

/**
 * The proxy that the environment names for a server, by Go's rules, as kubectl has them: `HTTPS_PROXY` or `HTTP_PROXY`
 * by the server's scheme, lower case as well, never for loopback, and not for what `NO_PROXY` lists.
 */
export function proxyFromEnvironment(server: string, env: Environment): string | undefined {
  const { host, port, secure } = parseServer(server);
  const proxy = secure ? env.HTTPS_PROXY || env.https_proxy : env.HTTP_PROXY || env.http_proxy;
  if (!proxy || isLoopback(host)) return undefined;
  const exceptions = (env.NO_PROXY || env.no_proxy || "").toLowerCase().split(",");
  if (exceptions.some((exception) => isExcepted(exception.trim(), host.toLowerCase(), port))) return undefined;
  return proxy.includes("://") ? proxy : `http://${proxy}`;
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || (isIP(host) === 4 && host.startsWith("127."));
}

/** One entry of `NO_PROXY`: `*`, an address, a range of them, a domain with its subdomains; all but the range with a port. */
function isExcepted(exception: string, host: string, port: number): boolean {
  if (exception === "") return false;
  if (exception === "*") return true;
  if (exception.includes("/")) return isInRange(exception, host);
  const [, name = "", exceptedPort] = /^(?:\[(?=.*\]))?([^\]]*?)\]?(?::(\d+))?$/.exec(exception) ?? [];
  if (isIP(exception) === 0 && exceptedPort !== undefined && Number(exceptedPort) !== port) return false;
  const excepted = isIP(exception) !== 0 ? exception : name;
  if (isIP(excepted) !== 0) return excepted === host;
  if (excepted === "" || isIP(host) !== 0) return false;
  const domain = excepted.replace(/^\*\./, ".");
  return domain.startsWith(".") ? host.endsWith(domain) : host === domain || host.endsWith(`.${domain}`);
}

function isInRange(range: string, host: string): boolean {
  const [network = "", bits = ""] = range.split("/");
  const family = isIP(network);
  if (family === 0 || isIP(host) !== family || !/^\d{1,3}$/.test(bits) || Number(bits) > (family === 4 ? 32 : 128))
    return false;
  const type = family === 4 ? "ipv4" : "ipv6";
  const list = new BlockList();
  list.addSubnet(network, Number(bits), type);
  return list.check(host, type);
}
