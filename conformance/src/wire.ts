import { Agent, request } from "node:https";

/** An answer that takes longer is a stream; a slow answer is a difference of its own. */
const LONGEST_ANSWER_MS = 15_000;

/** How to reach one server. */
export interface Endpoint {
  readonly url: string;
  readonly ca: string;
  /** Credentials of an administrator. */
  readonly token?: string;
  readonly clientCertificate?: { readonly cert: string; readonly key: string };
}

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body: Buffer;
}

export interface Call {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  /** An object is sent as JSON. */
  readonly body?: string | Uint8Array | object;
  /** Sent instead of the administrator's credentials; `null` sends none. */
  readonly token?: string | null;
}

/** A bare HTTP/1.1 connection pool to one server: no retries, no interpretation, so that the suite sees what was said. */
export class Wire implements Disposable {
  readonly #endpoint: Endpoint;
  readonly #agent: Agent;
  readonly #anonymousAgent: Agent;

  constructor(endpoint: Endpoint) {
    this.#endpoint = endpoint;
    const options = { keepAlive: true, ca: endpoint.ca, rejectUnauthorized: false, maxSockets: 64 };
    this.#agent = new Agent({ ...options, ...endpoint.clientCertificate });
    this.#anonymousAgent = new Agent(options);
  }

  /** Resolves with the whole answer; with what came so far where the answer is a stream that does not end. */
  send(call: Call): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const outgoing = this.#start(call, (incoming) => {
        const chunks: Buffer[] = [];
        incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
        const answer = (): Answer => ({
          status: incoming.statusCode ?? 0,
          headers: plainHeaders(incoming),
          body: Buffer.concat(chunks),
        });
        const limit = setTimeout(() => {
          resolve(answer());
          outgoing.destroy();
        }, LONGEST_ANSWER_MS);
        incoming.on("error", reject);
        incoming.on("end", () => {
          clearTimeout(limit);
          resolve(answer());
        });
      });
      outgoing.on("error", reject);
      outgoing.end(bodyOf(call));
    });
  }

  /** Opens a stream of JSON lines. */
  open(call: Call): Promise<LineStream> {
    return new Promise((resolve, reject) => {
      const outgoing = this.#start(call, (incoming) => resolve(new LineStream(incoming)));
      outgoing.on("error", reject);
      outgoing.end(bodyOf(call));
    });
  }

  [Symbol.dispose](): void {
    this.#agent.destroy();
    this.#anonymousAgent.destroy();
  }

  #start(call: Call, onAnswer: (incoming: import("node:http").IncomingMessage) => void) {
    const isAdmin = call.token === undefined;
    const token = isAdmin ? this.#endpoint.token : call.token;
    const headers: Record<string, string | string[]> = {
      accept: "application/json",
      ...(call.headers as Record<string, string | string[]>),
    };
    if (token) headers.authorization = `Bearer ${token}`;
    const body = bodyOf(call);
    if (body !== undefined) {
      headers["content-type"] ??= "application/json";
      // Node sends the body of a DELETE without a length of its own accord, which no server can read.
      headers["content-length"] = String(Buffer.byteLength(body));
    }
    return request(
      new URL(call.path, this.#endpoint.url),
      { method: call.method, agent: isAdmin ? this.#agent : this.#anonymousAgent, headers },
      onAnswer,
    );
  }
}

function bodyOf(call: Call): string | Uint8Array | undefined {
  if (call.body === undefined || typeof call.body === "string" || call.body instanceof Uint8Array) return call.body;
  return JSON.stringify(call.body);
}

function plainHeaders(incoming: import("node:http").IncomingMessage): Record<string, string | readonly string[]> {
  const headers: Record<string, string | readonly string[]> = {};
  for (const [name, values] of Object.entries(incoming.headersDistinct)) {
    if (values) headers[name] = values.length === 1 ? values[0]! : values;
  }
  return headers;
}

/** The lines of a streamed answer, as they arrive. */
export class LineStream implements Disposable {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly #incoming: import("node:http").IncomingMessage;
  readonly #lines: string[] = [];
  #rest = "";
  #ended = false;
  #wake: (() => void) | undefined;

  constructor(incoming: import("node:http").IncomingMessage) {
    this.#incoming = incoming;
    this.status = incoming.statusCode ?? 0;
    this.headers = plainHeaders(incoming);
    incoming.setEncoding("utf8");
    incoming.on("data", (text: string) => {
      const parts = (this.#rest + text).split("\n");
      this.#rest = parts.pop()!;
      this.#lines.push(...parts.filter((line) => line !== ""));
      this.#wake?.();
    });
    const end = (): void => {
      if (this.#rest !== "") this.#lines.push(this.#rest);
      this.#rest = "";
      this.#ended = true;
      this.#wake?.();
    };
    incoming.on("end", end);
    incoming.on("error", end);
    incoming.on("close", end);
  }

  /** The next line; undefined at the end of the stream or after `timeoutMs` of silence. */
  async next(timeoutMs: number): Promise<string | undefined> {
    const deadline = Date.now() + timeoutMs;
    while (this.#lines.length === 0 && !this.#ended && Date.now() < deadline) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, deadline - Date.now());
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    return this.#lines.shift();
  }

  [Symbol.dispose](): void {
    this.#incoming.destroy();
  }
}
