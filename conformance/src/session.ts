import { systemClock } from "setpoint/clock";
import type { LineStream } from "./line-stream.js";
import { Normaliser, type Step } from "./normalise.js";
import type { WebhookServer } from "./webhook-server.js";
import type { Answer, Call, Wire } from "./wire.js";

/** The object of a response, loosely typed like any foreign JSON. */
// biome-ignore lint/suspicious/noExplicitAny: cases read answers of any shape, and a wrong path is a failing case
export type Body = any;

export interface Reply {
  readonly status: number;
  readonly headers: Answer["headers"];
  readonly body: Body;
  readonly text: string;
}

export type CallOptions = Pick<Call, "headers" | "token"> & {
  /** Leaves this step out of the transcript: for waits and set-up that differ between the two servers. */
  readonly silent?: boolean;
};

/** Clean-ups that run after all cases, by resource. */
export type Endings = Map<string, () => Promise<void>>;

/** One case on one server: sends requests and keeps the transcript that is compared with the other server's. */
export class Session {
  /** The case's own namespace. */
  readonly namespace: string;
  /** The case's own API group, for its CRDs. */
  readonly group: string;
  /** The server of the case's webhooks. */
  readonly hooks: WebhookServer;
  readonly #wire: Wire;
  readonly #patienceMs: number;
  readonly #endings: Endings;
  readonly #steps: Step[] = [];
  readonly #normaliser = new Normaliser();

  constructor(wire: Wire, id: string, hooks: WebhookServer, patienceMs: number, endings: Endings = new Map()) {
    this.#wire = wire;
    this.#endings = endings;
    this.#patienceMs = patienceMs;
    this.hooks = hooks;
    this.namespace = id;
    this.group = `${id}.example.com`;
    // Cases derive other names from it, with and without its prefix.
    this.#normaliser.addGenerated(id);
    this.#normaliser.addGenerated(id.slice(id.indexOf("-") + 1));
  }

  get(path: string, options?: CallOptions): Promise<Reply> {
    return this.send("GET", path, undefined, options);
  }

  post(path: string, body: Call["body"], options?: CallOptions): Promise<Reply> {
    return this.send("POST", path, body, options);
  }

  put(path: string, body: Call["body"], options?: CallOptions): Promise<Reply> {
    return this.send("PUT", path, body, options);
  }

  delete(path: string, body?: Call["body"], options?: CallOptions): Promise<Reply> {
    return this.send("DELETE", path, body, options);
  }

  patch(type: PatchType, path: string, body: Call["body"], options?: CallOptions): Promise<Reply> {
    const headers = { "content-type": PATCH_TYPES[type], ...options?.headers };
    return this.send("PATCH", path, body, { ...options, headers });
  }

  /** Server-side apply by `manager`. */
  apply(manager: string, path: string, body: object, query = ""): Promise<Reply> {
    return this.patch("apply", `${path}?fieldManager=${manager}${query}`, body);
  }

  async send(method: string, path: string, body?: Call["body"], options: CallOptions = {}): Promise<Reply> {
    const { silent, ...rest } = options;
    const answer = await this.#wire.send({ method, path, ...(body === undefined ? {} : { body }), ...rest });
    const reply = replyOf(answer);
    if (!silent) this.#record(`${method} ${path}`, reply);
    return reply;
  }

  /** Opens a watch; the events are recorded as they are taken. */
  async watch(path: string, options: CallOptions = {}): Promise<WatchSession> {
    const stream = await this.#wire.open({ method: "GET", path, ...options });
    this.#steps.push({ what: `WATCH ${path}`, status: stream.status, headers: stream.headers });
    return new WatchSession(stream, (step) => this.#steps.push(step), path);
  }

  /** As {@link watch}, over a WebSocket. */
  async webSocketWatch(path: string, options: CallOptions = {}): Promise<WatchSession> {
    const stream = await this.#wire.openWebSocket({ method: "GET", path, ...options });
    const protocol = stream.headers["sec-websocket-protocol"];
    this.#steps.push({ what: `WEBSOCKET ${path}`, status: stream.status, ...(protocol && { body: { protocol } }) });
    return new WatchSession(stream, (step) => this.#steps.push(step), path);
  }

  /** As {@link until}, and records the last response. */
  async eventually(path: string, isDone: (reply: Reply) => boolean): Promise<Reply> {
    const reply = await this.until(path, isDone);
    this.#record(`EVENTUALLY ${path}`, reply);
    return reply;
  }

  /** Polls until `isDone`, for actions of controllers. */
  until(path: string, isDone: (reply: Reply) => boolean): Promise<Reply> {
    return repeated(() => this.get(path, { silent: true }), isDone, this.#patienceMs);
  }

  /** Repeats a dry run until its response shows that admission, which has its own cache, knows of a write. */
  async seen(path: string, body: object, isSeen: (reply: Reply) => boolean): Promise<void> {
    await repeated(() => this.post(path, body, { silent: true }), isSeen, this.#patienceMs);
  }

  /** Opens a stream of lines that is not recorded. */
  open(path: string): Promise<LineStream> {
    return this.#wire.open({ method: "GET", path });
  }

  get patienceMs(): number {
    return this.#patienceMs;
  }

  /** Creates a CRD and waits until its resource is served. */
  async crd(definition: Body): Promise<void> {
    await this.post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition, { silent: true });
    const { group, versions, names } = definition.spec;
    for (const version of versions.filter((each: Body) => each.served)) {
      const path = `/apis/${group}/${version.name}/${names.plural}`;
      await repeated(
        () => this.get(path, { silent: true }),
        ({ status }) => status === 200,
        20_000,
      );
    }
  }

  /** Adds the case's own value to the transcript. */
  note(what: string, body: unknown): void {
    this.#steps.push({ what, body });
  }

  /** Runs once, after all cases: for resources that several of them share. */
  afterAll(what: string, run: () => Promise<void>): void {
    this.#endings.set(what, run);
  }

  /** Marks a name as generated by the server. */
  generated(name: string): void {
    this.#normaliser.addGenerated(name);
  }

  transcript(): readonly Step[] {
    return this.#normaliser.transcript(this.#steps);
  }

  #record(what: string, reply: Reply): void {
    this.#steps.push({ what, status: reply.status, headers: reply.headers, body: reply.body });
  }
}

/** Refusals may be plain text. */
function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return line;
  }
}

/** Polls until the response is acceptable, or `limitMs` have passed; returns the last response. */
async function repeated(
  attempt: () => Promise<Reply>,
  isDone: (reply: Reply) => boolean,
  limitMs: number,
): Promise<Reply> {
  const deadline = systemClock.monotonic() + limitMs;
  let reply = await attempt();
  while (!isDone(reply) && systemClock.monotonic() < deadline) {
    await systemClock.sleep(50);
    reply = await attempt();
  }
  return reply;
}

const PATCH_TYPES = {
  json: "application/json-patch+json",
  merge: "application/merge-patch+json",
  strategic: "application/strategic-merge-patch+json",
  apply: "application/apply-patch+yaml",
} as const;

export type PatchType = keyof typeof PATCH_TYPES;

function replyOf(answer: Answer): Reply {
  const text = answer.body.toString("utf8");
  const isJson = String(answer.headers["content-type"] ?? "").startsWith("application/json");
  let body: unknown = text;
  if (isJson && text !== "") {
    try {
      body = JSON.parse(text);
    } catch {
      body = { notJson: text };
    }
  }
  return { status: answer.status, headers: answer.headers, body, text };
}

export class WatchSession implements Disposable {
  readonly #stream: LineStream;
  readonly #record: (step: Step) => void;
  readonly #path: string;

  constructor(stream: LineStream, record: (step: Step) => void, path: string) {
    this.#stream = stream;
    this.#record = record;
    this.#path = path;
  }

  /** Reads the next `count` events, without bookmarks unless requested, and records them. */
  async take(count: number, options: { bookmarks?: boolean; timeoutMs?: number } = {}): Promise<readonly Body[]> {
    const events: Body[] = [];
    while (events.length < count) {
      const line = await this.#stream.next(options.timeoutMs ?? 10_000);
      if (line === undefined) break;
      const event = JSON.parse(line) as Body;
      if (event.type === "BOOKMARK" && !options.bookmarks) continue;
      events.push(event);
    }
    this.#record({ what: `EVENTS ${this.#path}`, body: events });
    return events;
  }

  /** Sends bytes to the server, over a WebSocket. */
  send(bytes: Uint8Array): void {
    this.#stream.send(bytes);
  }

  /** Records whether the stream ended by itself, without a further event. */
  async end(timeoutMs = 10_000): Promise<void> {
    const line = await this.#stream.next(timeoutMs);
    this.#record({ what: `END ${this.#path}`, body: line === undefined ? "ended" : parsed(line) });
  }

  [Symbol.dispose](): void {
    this.#stream[Symbol.dispose]();
  }
}
