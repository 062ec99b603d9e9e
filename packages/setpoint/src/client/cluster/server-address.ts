import { SetpointError } from "../../errors/error.js";

/** The parts of a server's URL. */
export interface ServerAddress {
  readonly host: string;
  readonly port: number;
  readonly secure: boolean;
  /** The prefix of every path: empty, or `/k8s/clusters/c-1` behind a gateway. */
  readonly prefix: string;
  /** The value of the `Host` header. */
  readonly hostHeader: string;
}

/** Throws `REQUEST_INVALID` if the text is not an http or https URL. */
export function parseServer(server: string): ServerAddress {
  const url = URL.canParse(server) ? new URL(server) : undefined;
  if (!url || (url.protocol !== "https:" && url.protocol !== "http:") || !url.hostname) {
    throw new SetpointError("REQUEST_INVALID", `"${server}" is not an http or https URL`);
  }
  const secure = url.protocol === "https:";
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1");
  const port = Number(url.port || (secure ? 443 : 80));
  const shownHost = host.includes(":") ? `[${host}]` : host;
  const hostHeader = port === (secure ? 443 : 80) ? shownHost : `${shownHost}:${port}`;
  return { host, port, secure, prefix: url.pathname.replace(/\/+$/, ""), hostHeader };
}
