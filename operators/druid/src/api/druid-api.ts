import { Buffer } from "node:buffer";
import { type JsonValue, SetpointError } from "setpoint";
import { http1Transport } from "setpoint/client";
import { type Clock, systemClock, timeoutSignal } from "setpoint/clock";

export interface DruidRequest {
  readonly method: "GET" | "POST" | "DELETE";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** The CA that signed Druid's certificate, as PEM. */
  readonly ca?: string | undefined;
  readonly signal: AbortSignal;
}

export interface DruidAnswer {
  readonly status: number;
  readonly body: string;
  readonly location?: string | undefined;
}

/** Sends one HTTP request. Follows no redirects and does not retry. */
export type DruidCall = (request: DruidRequest) => Promise<DruidAnswer>;

export interface DruidAccess {
  readonly url: string;
  readonly user?: { readonly name: string; readonly password: string } | undefined;
  readonly ca?: string | undefined;
}

const DEADLINE_MS = 10_000;
const MAX_BODY = 8 * 1024 * 1024;
const MAX_REDIRECTS = 3;
/** Retries allowed per Druid cluster and minute. */
const RETRY_BUDGET = 10;

export function httpCall(clock: Clock = systemClock): DruidCall {
  return async ({ method, url, headers, body, ca, signal }) => {
    const { origin, pathname, search } = new URL(url);
    await using transport = http1Transport({ server: origin, clock, connectTimeout: 5_000, tls: ca ? { ca } : {} });
    const sent = body === undefined ? {} : { body: Buffer.from(body) };
    const answer = await transport.request({ method, path: pathname + search, headers, signal, ...sent });
    const chunks: Uint8Array[] = [];
    let length = 0;
    for await (const chunk of answer.body) {
      chunks.push(chunk);
      if ((length += chunk.length) > MAX_BODY)
        throw new SetpointError("DRUID_REFUSED", `the answer has more than ${MAX_BODY} bytes`);
    }
    const { location } = answer.headers;
    return {
      status: answer.status,
      body: Buffer.concat(chunks).toString(),
      location: location ? String(location) : undefined,
    };
  };
}

/** Calls Druid's HTTP API through the router. Sets deadlines, follows redirects to the leader, and limits retries. */
export class DruidApi {
  readonly #call: DruidCall;
  readonly #clock: Clock;
  readonly #retries = new Map<string, number[]>();

  constructor(call: DruidCall, clock: Clock) {
    this.#call = call;
    this.#clock = clock;
  }

  /** The parsed answer; undefined for 404. Rejects with `DRUID_REFUSED` for other errors, or `DRUID_UNREACHABLE`. */
  async get(access: DruidAccess, path: string, signal?: AbortSignal): Promise<JsonValue | undefined> {
    const answer = await this.#send(access, "GET", path, undefined, signal);
    if (answer.status === 404) return undefined;
    return parsed(this.#accepted(path, answer));
  }

  async post(access: DruidAccess, path: string, body: JsonValue | undefined, signal?: AbortSignal): Promise<JsonValue> {
    return parsed(this.#accepted(path, await this.#send(access, "POST", path, body, signal)));
  }

  /** Accepts 404: the resource is already gone. */
  async delete(access: DruidAccess, path: string, signal?: AbortSignal): Promise<void> {
    const answer = await this.#send(access, "DELETE", path, undefined, signal);
    if (answer.status !== 404) this.#accepted(path, answer);
  }

  #accepted(path: string, { status, body }: DruidAnswer): string {
    if (status >= 200 && status < 300) return body;
    throw new DruidRefusal(status, `${path}: Druid answered ${status}${body ? `: ${body.slice(0, 2_000)}` : ""}`);
  }

  async #send(
    access: DruidAccess,
    method: DruidRequest["method"],
    path: string,
    body: JsonValue | undefined,
    signal?: AbortSignal,
  ): Promise<DruidAnswer> {
    for (;;) {
      try {
        const answer = await this.#follow(access, method, path, body, signal);
        if (answer.status < 500 || method !== "GET" || !this.#mayRepeat(access.url)) return answer;
      } catch (cause) {
        if (method === "GET" && !signal?.aborted && this.#mayRepeat(access.url)) continue;
        const message = `${access.url}${path}: ${cause instanceof Error ? cause.message : String(cause)}`;
        throw new SetpointError("DRUID_UNREACHABLE", message, { cause });
      }
    }
  }

  async #follow(
    { url, user, ca }: DruidAccess,
    method: DruidRequest["method"],
    path: string,
    body: JsonValue | undefined,
    parent?: AbortSignal,
  ): Promise<DruidAnswer> {
    using deadline = timeoutSignal(this.#clock, DEADLINE_MS, parent);
    const { signal } = deadline;
    const secret = user && Buffer.from(`${user.name}:${user.password}`).toString("base64");
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    let target = `${url}${path}`;
    for (let hops = 0; ; hops++) {
      // Never send the password after a redirect from https to http.
      const isTrusted = new URL(target).protocol === new URL(url).protocol;
      const headers = {
        accept: "application/json",
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...(secret && isTrusted ? { authorization: `Basic ${secret}` } : {}),
      };
      const answer = await raced(this.#call({ method, url: target, headers, ca, signal, ...sent }), signal);
      if (![301, 302, 307, 308].includes(answer.status) || !answer.location) return answer;
      if (hops === MAX_REDIRECTS)
        throw new SetpointError(
          "DRUID_REFUSED",
          `more than ${MAX_REDIRECTS} redirects, the last to ${answer.location}`,
        );
      target = new URL(answer.location, target).href;
    }
  }

  #mayRepeat(url: string): boolean {
    const now = this.#clock.now();
    const recent = (this.#retries.get(url) ?? []).filter((at) => at > now - 60_000);
    this.#retries.set(url, recent);
    return recent.length < RETRY_BUDGET && recent.push(now) > 0 && recent.filter((at) => at > now - 1_000).length <= 2;
  }
}

/** Druid answered with an HTTP error status. */
export class DruidRefusal extends SetpointError<"DRUID_REFUSED"> {
  readonly status: number;

  constructor(status: number, message: string) {
    super("DRUID_REFUSED", message);
    this.status = status;
  }
}

/** Rejects when the signal aborts, even if the call itself ignores the signal. */
function raced<T>(call: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    if (signal.aborted) reject(signal.reason);
    call.then(resolve, reject);
  });
}

function parsed(body: string): JsonValue {
  if (body.trim() === "") return {};
  try {
    return JSON.parse(body) as JsonValue;
  } catch {
    return body;
  }
}
