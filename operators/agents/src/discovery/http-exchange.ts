import { request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import { AgentsError } from "../errors.js";

/** How to reach a server: the headers of every request, and the CA to trust. */
export interface HttpTarget {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly tls?: TlsMaterial | undefined;
}

export interface TlsMaterial {
  /** PEM. Trusted in addition to the system's CAs, or instead of them. */
  readonly ca?: string | undefined;
  readonly withoutSystemCa: boolean;
  readonly verify: boolean;
  /** The client certificate and its key, as PEM. */
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
}

export interface HttpRequest {
  readonly method: "GET" | "POST" | "DELETE";
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Closes the connection after this long without data. */
  readonly silenceMs?: number;
}

/** A response whose body has not been read. */
export interface HttpAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: AsyncIterable<Uint8Array> & { destroy(): void };
}

/** TCP keep-alive: detects a vanished peer on streams that may be silent for long. */
const KEEP_ALIVE_MS = 60_000;

const MAX_REDIRECTS = 5;

/**
 * Sends a request on its own connection. Follows redirects on the same origin (`/mcp` to `/mcp/`), but never to another
 * host, because headers may hold secrets. Rejects with `MCP_UNREACHABLE`, `MCP_TLS`, or the signal's reason.
 */
export async function exchange(target: HttpTarget, request: HttpRequest, signal: AbortSignal): Promise<HttpAnswer> {
  let { url } = request;
  for (let redirects = 0; ; redirects++) {
    const answer = await send(target, { ...request, url }, signal);
    const next = redirects < MAX_REDIRECTS ? redirectOf(answer, request.method, url) : undefined;
    if (next === undefined) return answer;
    answer.body.destroy();
    url = next;
  }
}

/** Follows 307 and 308, which keep the method. Follows the others only for GET. */
function redirectOf({ status, headers }: HttpAnswer, method: string, url: string): string | undefined {
  const isFollowed = [307, 308].includes(status) || (method === "GET" && [301, 302, 303].includes(status));
  if (!isFollowed || !headers.location || !URL.canParse(headers.location, url)) return undefined;
  const next = new URL(headers.location, url);
  return next.origin === new URL(url).origin ? next.href : undefined;
}

async function send(target: HttpTarget, request: HttpRequest, signal: AbortSignal): Promise<HttpAnswer> {
  signal.throwIfAborted();
  const isSecure = request.url.startsWith("https:");
  const { tls } = target;
  const options = {
    method: request.method,
    headers: { ...target.headers, ...request.headers },
    agent: false as const,
    signal,
    ...(request.silenceMs === undefined ? {} : { timeout: request.silenceMs }),
    ...(isSecure && tls ? await tlsOptions(tls) : {}),
  };
  return new Promise((resolve, reject) => {
    const sent = (isSecure ? httpsRequest : httpRequest)(request.url, options, (response) => {
      resolve({
        status: response.statusCode ?? 0,
        contentType: (response.headers["content-type"] ?? "").split(";")[0]!.trim().toLowerCase(),
        headers: response.headers,
        body: response as AsyncIterable<Uint8Array> & { destroy(): void },
      });
    });
    sent.setSocketKeepAlive(true, KEEP_ALIVE_MS);
    sent.on("timeout", () => sent.destroy(new Error("no sign of life")));
    sent.on("error", (error) => reject(signal.aborted ? signal.reason : connectionError(error, request.url)));
    sent.end(request.body);
  });
}

async function tlsOptions({ ca, withoutSystemCa, verify, cert, key }: TlsMaterial): Promise<object> {
  const { rootCertificates } = await import("node:tls");
  return {
    rejectUnauthorized: verify,
    ...(ca === undefined
      ? withoutSystemCa
        ? { ca: [] }
        : {}
      : { ca: withoutSystemCa ? [ca] : [...rootCertificates, ca] }),
    ...(cert === undefined ? {} : { cert, key }),
  };
}

/** Error codes of Node and OpenSSL for certificate and handshake problems. */
const TLS_CODE = /CERT|TLS|SSL|SIGNATURE|ISSUER|SELF_SIGNED|EPROTO/;

export function connectionError(error: Error, url: string): AgentsError {
  const code = String((error as NodeJS.ErrnoException).code ?? "");
  const { host } = new URL(url);
  const isTls = TLS_CODE.test(code);
  const message = `${host}: ${error.message || code || "the connection failed"}`;
  return new AgentsError(isTls ? "MCP_TLS" : "MCP_UNREACHABLE", message, { cause: error });
}
