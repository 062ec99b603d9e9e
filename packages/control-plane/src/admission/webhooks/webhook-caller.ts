import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import type { Clock } from "setpoint/clock";
import { isObject, type Json, type JsonObject } from "../../api/json.js";
import { checkDepth } from "../../schema/depth.js";
import { goSyntaxError } from "../../schema/json-syntax.js";
import { goCallError, statusMessage } from "./call-error.js";
import type { ServiceReference, WebhookClientConfig } from "./webhook.js";

/** Answers a review in this process. If it throws, the call has failed. */
export type WebhookHandler = (
  review: JsonObject,
  call: { readonly path: string; readonly signal: AbortSignal },
) => Promise<JsonObject>;

/** The target of a Service: an address on this machine, or a function. Undefined for an unknown Service. */
export type ServiceResolver = (
  service: Required<ServiceReference>,
) => { readonly url: string } | { readonly handler: WebhookHandler } | undefined;

export interface WebhookCallerOptions {
  readonly clock: Clock;
  /** Resolves Services. By default none resolve. */
  readonly services?: ServiceResolver;
}

/** A failed call: the webhook was not reachable, or its response was not a review. */
export class WebhookCallError extends Error {
  override readonly name = "WebhookCallError";
}

/** Size limit of a response. */
const MAX_ANSWER_BYTES = 16 * 2 ** 20;
const DEFAULT_PORT = 443;
/** The redirect limit of Go's client. */
const MAX_REDIRECTS = 10;
/** Limit of HTTPS agents. Each keeps the connections of one server name and CA. */
const MAX_AGENTS = 100;

/** Posts reviews to webhooks, by URL or through a Service. */
export class WebhookCaller implements Disposable {
  readonly #options: WebhookCallerOptions;
  readonly #agents = new Map<string, HttpsAgent>();
  readonly #plainAgent = new HttpAgent({ keepAlive: true });

  constructor(options: WebhookCallerOptions) {
    this.#options = options;
  }

  [Symbol.dispose](): void {
    for (const agent of this.#agents.values()) agent.destroy();
    this.#plainAgent.destroy();
  }

  /**
   * Returns the JSON of the response. Rejects with a `WebhookCallError` in the real server's wording. `signal` ends the
   * call.
   */
  async call(
    config: WebhookClientConfig,
    review: JsonObject,
    options: { readonly timeoutSeconds?: number; readonly signal: AbortSignal },
  ): Promise<JsonObject> {
    const { timeoutSeconds, signal } = options;
    const target = this.#targetOf(config, timeoutSeconds);
    const deadline = new AbortController();
    const onAbort = (): void => deadline.abort(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    const expire = (): void => deadline.abort(new WebhookCallError("context deadline exceeded"));
    using _timer = timeoutSeconds === undefined ? undefined : this.#options.clock.timer(timeoutSeconds * 1000, expire);
    try {
      if (signal.aborted) throw new WebhookCallError("context canceled");
      if (target.handler)
        return await raced(target.handler(review, { path: target.path, signal: deadline.signal }), deadline.signal);
      return await this.#post(target, JSON.stringify(review), deadline.signal);
    } catch (error) {
      const reason: unknown = deadline.signal.aborted && !signal.aborted ? deadline.signal.reason : error;
      throw failure(reason, target.shownUrl);
    } finally {
      signal.removeEventListener("abort", onAbort);
    }
  }

  #targetOf(config: WebhookClientConfig, timeoutSeconds: number | undefined): Target {
    const query = timeoutSeconds === undefined ? "" : `?timeout=${timeoutSeconds}s`;
    const ca = config.caBundle ? Buffer.from(config.caBundle, "base64").toString("latin1") : undefined;
    const { service } = config;
    if (!service) {
      if (!config.url) throw new WebhookCallError("webhook configuration must have either service or URL");
      const shownUrl = `${config.url}${query}`;
      const url = new URL(shownUrl);
      return { shownUrl, url, path: url.pathname, ca };
    }
    const { namespace, name, port = DEFAULT_PORT, path = "/" } = service;
    const serverName = `${name}.${namespace}.svc`;
    const suffix = path.startsWith("/") ? path : `/${path}`;
    const shownUrl = `https://${serverName}:${port}${suffix}${query}`;
    const resolved = this.#options.services?.({ namespace, name, port, path: suffix });
    if (!resolved) throw new WebhookCallError(`Post "${shownUrl}": service "${name}" not found`);
    if ("handler" in resolved) return { shownUrl, path: suffix, handler: resolved.handler };
    const url = new URL(resolved.url);
    url.pathname = suffix;
    url.search = query;
    return { shownUrl, url, path: suffix, ca, serverName };
  }

  #post(target: Target, body: string, signal: AbortSignal, redirects = MAX_REDIRECTS): Promise<JsonObject> {
    const { url, ca, serverName } = target;
    return new Promise((resolve, reject) => {
      const isPlain = url!.protocol === "http:";
      const options = {
        method: "POST",
        signal,
        headers: {
          "content-type": "application/json",
          accept: "application/json, */*",
          "user-agent": "kube-apiserver-admission",
          "content-length": Buffer.byteLength(body),
        },
      };
      const outgoing = isPlain
        ? httpRequest(url!, { ...options, agent: this.#plainAgent })
        : httpsRequest(url!, {
            ...options,
            agent: this.#agentFor(ca, serverName ?? url!.hostname),
            ...(serverName && { servername: serverName }),
          });
      outgoing.on("response", (response) => {
        const next = redirects > 0 ? redirection(response, url!) : undefined;
        if (next === undefined) return void readAnswer(response).then(resolve, reject);
        response.resume();
        return void this.#post({ ...target, url: next }, body, signal, redirects - 1).then(resolve, reject);
      });
      outgoing.on("error", reject);
      outgoing.end(body);
    });
  }

  /** The agent of a server name and CA. Drops the oldest agent if there are too many. */
  #agentFor(ca: string | undefined, serverName: string): HttpsAgent {
    const key = `${serverName}\n${ca ?? ""}`;
    const known = this.#agents.get(key);
    if (known) return known;
    if (this.#agents.size >= MAX_AGENTS) {
      const [oldest, agent] = this.#agents.entries().next().value!;
      agent.destroy();
      this.#agents.delete(oldest);
    }
    // Like Go, accept a bundle that holds the server's own certificate instead of its CA.
    const trust = ca ? { ca, allowPartialTrustChain: true } : {};
    const agent = new HttpsAgent({ keepAlive: true, ...trust, minVersion: "TLSv1.2" });
    this.#agents.set(key, agent);
    return agent;
  }
}

/** The target of a 307 or 308. Some servers redirect paths with double slashes. */
function redirection({ statusCode, headers }: IncomingMessage, from: URL): URL | undefined {
  if ((statusCode !== 307 && statusCode !== 308) || !headers.location) return undefined;
  return URL.canParse(headers.location, from.href) ? new URL(headers.location, from) : undefined;
}

interface Target {
  /** The URL in error messages. */
  readonly shownUrl: string;
  readonly path: string;
  readonly url?: URL;
  readonly ca?: string | undefined;
  readonly serverName?: string;
  readonly handler?: WebhookHandler;
}

function failure(reason: unknown, shownUrl: string): WebhookCallError {
  if (reason instanceof WebhookCallError && reason.message !== "context deadline exceeded") return reason;
  return new WebhookCallError(`Post "${shownUrl}": ${goCallError(reason)}`, { cause: reason });
}

async function raced<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  let onAbort: (() => void) | undefined;
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener("abort", onAbort!);
  }
}

async function readAnswer(response: IncomingMessage): Promise<JsonObject> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_ANSWER_BYTES) {
      response.destroy();
      throw new WebhookCallError(`the answer is larger than ${MAX_ANSWER_BYTES} bytes`);
    }
    chunks.push(chunk);
  }
  const text = Buffer.concat(chunks).toString("utf8");
  const { statusCode = 0 } = response;
  const contentType = response.headers["content-type"] ?? "";
  if (statusCode < 200 || statusCode > 206) throw new WebhookCallError(statusMessage(statusCode, text, contentType));
  if (text === "") {
    throw new WebhookCallError(`0-length response with status code: ${statusCode} and content type: ${contentType}`);
  }
  return parsed(text);
}

function parsed(text: string): JsonObject {
  let value: Json;
  try {
    value = JSON.parse(text) as Json;
  } catch (cause) {
    throw new WebhookCallError(`couldn't get version/kind; json parse error: ${goSyntaxError(text)}`, { cause });
  }
  if (!isObject(value)) throw new WebhookCallError("couldn't get version/kind; json parse error: not an object");
  checkDepth(value);
  return value;
}
