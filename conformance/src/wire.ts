import type { IncomingMessage } from "node:http";
import { Agent, request } from "node:https";
import { systemClock } from "setpoint/clock";
import { LineStream } from "./line-stream.js";
import { webSocketTexts } from "./websocket-frames.js";

/** A response that takes longer is a stream; a slow response is a difference of its own. */
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
  /** Replaces the administrator's credentials; `null` sends none. */
  readonly token?: string | null;
}

/**
 * A bare HTTP/1.1 connection pool to one server: no retries, no interpretation, so that the suite sees the raw
 * response.
 */
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

  /** Resolves with the whole response, or with the part so far if it is an endless stream. */
  send(call: Call): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const outgoing = this.#start(call, (incoming) => {
        const chunks: Buffer[] = [];
        incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
        const answer = (): Answer => ({ ...headOf(incoming), body: Buffer.concat(chunks) });
        const limit = systemClock.timer(LONGEST_ANSWER_MS, () => {
          resolve(answer());
          outgoing.destroy();
        });
        incoming.on("error", reject);
        incoming.on("end", () => {
          limit[Symbol.dispose]();
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
      const outgoing = this.#start(call, (incoming) => resolve(new LineStream(incoming, headOf(incoming))));
      outgoing.on("error", reject);
      outgoing.end(bodyOf(call));
    });
  }

  /** Requests a WebSocket; the lines are its messages, or the response of a server that refuses it. */
  openWebSocket(call: Call): Promise<LineStream> {
    const headers = {
      connection: "Upgrade",
      upgrade: "websocket",
      "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
      "sec-websocket-version": "13",
      origin: this.#endpoint.url,
      ...call.headers,
    };
    const given = Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== ""));
    return new Promise((resolve, reject) => {
      const outgoing = this.#start({ ...call, headers: given }, (incoming) =>
        resolve(new LineStream(incoming, headOf(incoming))),
      );
      outgoing.on("upgrade", (incoming, socket, first) => {
        if (first.length > 0) socket.unshift(first);
        const texts = socket.pipe(webSocketTexts());
        texts.on("close", () => socket.destroy());
        socket.on("error", () => texts.destroy());
        resolve(new LineStream(texts, headOf(incoming), (bytes) => socket.write(bytes)));
      });
      outgoing.on("error", reject);
      outgoing.end();
    });
  }

  [Symbol.dispose](): void {
    this.#agent.destroy();
    this.#anonymousAgent.destroy();
  }

  #start(call: Call, onAnswer: (incoming: IncomingMessage) => void) {
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
      // By default Node sends the body of a DELETE without a length, which no server can read.
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

function headOf(incoming: IncomingMessage): Pick<Answer, "status" | "headers"> {
  return { status: incoming.statusCode ?? 0, headers: plainHeaders(incoming) };
}

function plainHeaders(incoming: IncomingMessage): Record<string, string | readonly string[]> {
  const headers: Record<string, string | readonly string[]> = {};
  for (const [name, values] of Object.entries(incoming.headersDistinct)) {
    if (values) headers[name] = values.length === 1 ? values[0]! : values;
  }
  return headers;
}
