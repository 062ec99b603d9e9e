import { once } from "node:events";
import { type ClientHttp2Session, connect as connectHttp2 } from "node:http2";
import { Agent, request } from "node:https";
import { connect, type TLSSocket } from "node:tls";

/** Who attacks: `zero` has no role, `editor` has `edit` in one namespace, `patcher` has what {@link preparation} grants. */
export type HostileUser = "zero" | "editor" | "patcher";

export interface AttackedServer {
  readonly port: number;
  /** Bearer tokens. */
  readonly tokens: Readonly<Record<HostileUser, string>>;
  /** The namespace of `editor` and `patcher`. */
  readonly namespace: string;
}

export interface HostileRequest {
  /** Nobody, where it is left out. */
  readonly user?: HostileUser;
  readonly body?: string | Uint8Array | object;
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface HostileAnswer {
  readonly status: number;
  readonly text: string;
}

/** An idle connection of HTTP/2, and when it began to idle. */
interface Idle {
  readonly session: ClientHttp2Session;
  readonly sinceMs: number;
}

/** The longest that a connection may idle, and what the server's look at all of them adds. */
const IDLE_MS = 90_000 + 30_000;

/** Sends what no honest client would. Answers are read whole; whoever breaks the connection rejects. */
export class Attacker implements Disposable {
  readonly server: AttackedServer;
  readonly #agent: Agent;
  readonly #sockets = new Set<TLSSocket>();
  readonly #idle: Idle[] = [];
  #count = 0;

  constructor(server: AttackedServer, maxSockets: number) {
    this.server = server;
    this.#agent = new Agent({ keepAlive: true, maxSockets, rejectUnauthorized: false });
  }

  /** A number that was not given out before. */
  next(): number {
    return this.#count++;
  }

  send(method: string, path: string, { user, body, type, headers }: HostileRequest = {}): Promise<HostileAnswer> {
    const bytes = body === undefined ? undefined : bytesOf(body);
    const all = {
      ...this.#credentials(user),
      ...(bytes && { "content-type": type ?? "application/json", "content-length": bytes.length }),
      ...headers,
    };
    const options = { host: "127.0.0.1", port: this.server.port, agent: this.#agent, method, path, headers: all };
    return new Promise((resolve, reject) => {
      const sent = request(options, (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("end", () => {
          resolve({ status: response.statusCode!, text: Buffer.concat(chunks).toString() });
        });
        response.on("error", reject);
      });
      sent.on("error", reject);
      sent.end(bytes);
    });
  }

  /** One request on a connection of HTTP/2 of its own. */
  async sendHttp2(path: string, { user, body, headers }: HostileRequest = {}): Promise<HostileAnswer> {
    const session = await this.session();
    try {
      const stream = session.request({
        ":method": body === undefined ? "GET" : "POST",
        ":path": path,
        ...this.#credentials(user),
        ...(body !== undefined && { "content-type": "application/json" }),
        ...headers,
      });
      stream.end(body === undefined ? undefined : bytesOf(body));
      const [head] = (await once(stream, "response")) as [Record<string, unknown>];
      const chunks: Buffer[] = [];
      for await (const chunk of stream) chunks.push(chunk as Buffer);
      return { status: Number(head[":status"]), text: Buffer.concat(chunks).toString() };
    } finally {
      session.destroy();
    }
  }

  async session(): Promise<ClientHttp2Session> {
    const session = connectHttp2(`https://127.0.0.1:${this.server.port}`, { rejectUnauthorized: false });
    session.on("error", () => {});
    await once(session, "connect");
    return session;
  }

  /** Leaves a connection of HTTP/2 open without a request. */
  async idle(): Promise<void> {
    this.#idle.push({ session: await this.session(), sinceMs: performance.now() });
  }

  /** Idle connections that the server should have closed by now. */
  get overdue(): number {
    const untilMs = performance.now() - IDLE_MS;
    return this.#idle.filter(({ session, sinceMs }) => !session.closed && sinceMs < untilMs).length;
  }

  /** The start of what comes back for a text, on a connection of its own; what follows is `then`, if it is as expected. */
  async raw(text: string, then?: { readonly after: RegExp; readonly bytes: Uint8Array }): Promise<string> {
    const socket = connect({ host: "127.0.0.1", port: this.server.port, rejectUnauthorized: false });
    this.#sockets.add(socket);
    socket.on("error", () => {});
    const closed = new Promise<void>((resolve) => socket.on("close", () => resolve()));
    let answer = "";
    let isSent = false;
    socket.on("data", (chunk: Buffer) => {
      if (answer.length < 10_000) answer += chunk.toString();
      if (then === undefined || isSent || !then.after.test(answer)) return;
      isSent = true;
      socket.write(then.bytes);
    });
    socket.write(text);
    const patience = setTimeout(() => socket.destroy(), 3_000);
    await closed;
    clearTimeout(patience);
    this.#sockets.delete(socket);
    return answer;
  }

  /** The header with the token of a user. */
  authorization(user: HostileUser): string {
    return `authorization: Bearer ${this.server.tokens[user]}\r\n`;
  }

  [Symbol.dispose](): void {
    this.#agent.destroy();
    for (const socket of this.#sockets) socket.destroy();
    for (const { session } of this.#idle) session.destroy();
  }

  #credentials(user: HostileUser | undefined): Record<string, string> {
    return user === undefined ? {} : { authorization: `Bearer ${this.server.tokens[user]}` };
  }
}

function bytesOf(body: string | Uint8Array | object): Buffer {
  if (body instanceof Uint8Array) return Buffer.from(body);
  return Buffer.from(typeof body === "string" ? body : JSON.stringify(body));
}
