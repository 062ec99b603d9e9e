import type { App } from "../app/app.js";
import { createClient } from "../client/api-client.js";
import type { Client } from "../client/client.js";
import type { Transport, TransportRequest, TransportResponse } from "../client/transport/transport.js";
import { transportError } from "../client/transport/transport-error.js";
import { type Duration, parseDuration } from "../clock/duration.js";
import { seededRandom, systemRandom } from "../clock/random.js";
import { systemClock } from "../clock/system-clock.js";
import type { VirtualClock } from "../clock/virtual-clock.js";
import type { Loop } from "../controller/loop.js";
import { ownField } from "../kinds/own-field.js";
import { checkLoop } from "../manager/loops.js";
import { Manager, type ManagerOptions } from "../manager/manager.js";
import { MortalClock } from "./mortal-clock.js";
import { WatchLine } from "./watch-line.js";

/** A request of the operator under test. */
export interface SentRequest {
  readonly method: TransportRequest["method"];
  readonly path: string;
  /** The parsed JSON body, if any. */
  readonly body: unknown;
}

/**
 * Answers a request instead of the server (see `errorAnswer`), fails it with an error, or leaves it without a response
 * until it is aborted (`"hang"`); undefined lets it pass.
 */
export type RequestFault = (request: SentRequest) => TransportResponse | Error | "hang" | undefined;

/**
 * One simulated process of an operator: its own client, caches and queues; only the server is shared. It can be stopped
 * in order, or crash: then it receives nothing and starts nothing more, like a dead process. Only your own code that
 * runs at that moment continues, up to its next await on `ctx`.
 */
export class OperatorProcess implements AsyncDisposable {
  readonly manager: Manager;
  readonly client: Client;
  /** All its requests, except watches. */
  readonly requests: SentRequest[] = [];
  readonly #transport: Transport;
  readonly #clock: VirtualClock;
  readonly #ownClock: MortalClock;
  readonly #apps: readonly App[];
  readonly #watches = new Set<WatchLine>();
  readonly #faults: Set<RequestFault>;
  readonly #crashed: Promise<void>;
  #markCrashed!: () => void;
  #isCrashed = false;
  /** Active cuts. */
  readonly #cuts = new Set<Disposable>();
  /** Aborted when it is cut: requests in flight then get no response. */
  #line = lineToServer();
  #watchLagMs = 0;
  #writesToCrash = Number.POSITIVE_INFINITY;

  constructor(
    transport: Transport,
    clock: VirtualClock,
    seed: number,
    faults: Set<RequestFault>,
    loops: readonly (Loop | App)[],
    options: Partial<ManagerOptions>,
  ) {
    this.#transport = transport;
    this.#clock = clock;
    this.#ownClock = new MortalClock(clock);
    this.#faults = faults;
    this.#crashed = new Promise((resolve) => {
      this.#markCrashed = resolve;
    });
    const counted: Transport = { request: (request) => this.#send(request), [Symbol.asyncDispose]: async () => {} };
    const own = { clock: this.#ownClock, random: seededRandom(seed) };
    this.client = createClient({ transport: counted, server: "in-process", ...own });
    // TLS uses real time, whatever the clock of the test says.
    const webhooks = { clock: systemClock, random: systemRandom, ...options.webhooks };
    const random = seededRandom(seed + 1);
    this.manager = new Manager({ ...options, webhooks, client: this.client, clock: this.#ownClock, random });
    loops.forEach(checkLoop);
    this.#apps = loops.filter((loop) => loop.type === "app");
    for (const loop of loops) if (loop.type !== "app") void this.manager.add(loop);
  }

  /** Starts to work. Resolves when its apps are installed and served; rejects if that fails. */
  async start(): Promise<void> {
    // Virtual time does not wait for files, so load now what controllers and the manager load at their start.
    await Promise.all([import("../controller/run/ref-schedule.js"), import("../manager/preflight.js")]);
    void this.manager.start().catch(() => {});
    await this.#clock.advance(0);
    for (const app of this.#apps) await this.manager.add(app);
  }

  /** Requests that change something, as `PATCH /api/v1/…`, without queries; without events, leases and reviews. */
  get writes(): readonly string[] {
    return this.requests.filter(isWrite).map(({ method, path }) => `${method} ${path.split("?")[0]}`);
  }

  /** Crashes right after the server has done the `count`th write from now on, whose response is lost. */
  crashAfterWrite(count: number): void {
    this.#writesToCrash = count;
  }

  /** Crashes now: at a write elsewhere, as to a database. */
  crash(): void {
    this.#isCrashed = true;
    this.#ownClock.die();
    for (const watch of this.#watches) watch.fallSilent();
    this.manager.abandon();
    this.#markCrashed();
  }

  /**
   * Cuts this process off from the server until disposed: watches break, no request passes, and responses in flight are
   * lost.
   */
  cut(): Disposable {
    const cut: Disposable = { [Symbol.dispose]: () => void this.#cuts.delete(cut) };
    this.#cuts.add(cut);
    this.#line.abort(transportError("TRANSPORT_BROKEN", "the connection broke: cut off by the test"));
    this.#line = lineToServer();
    for (const watch of [...this.#watches]) watch.cut(outOfReach());
    return cut;
  }

  /** Delays its watch events until disposed: its caches are stale by that much. */
  delayWatches(lag: Duration): Disposable {
    this.#watchLagMs = parseDuration(lag, "lag");
    return {
      [Symbol.dispose]: () => {
        this.#watchLagMs = 0;
      },
    };
  }

  /** Resolves when the process has crashed. */
  get crashed(): Promise<void> {
    return this.#crashed;
  }

  get hasCrashed(): boolean {
    return this.#isCrashed;
  }

  /** Stops in order; a crashed process is only cleaned up. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#isCrashed) await this.manager.stop();
  }

  async #send(request: TransportRequest): Promise<TransportResponse> {
    const sent = { method: request.method, path: request.path, body: parsed(request.body) };
    if (this.#isCrashed) return await never();
    const isWatch = request.path.includes("watch=true");
    if (!isWatch) this.requests.push(sent);
    if (this.#cuts.size > 0) throw outOfReach();
    const line = this.#line.signal;
    for (const fault of this.#faults) {
      const result = fault(sent);
      if (result instanceof Error) throw result;
      if (result === "hang") return await this.#heard(never(), request.signal);
      if (result) return result;
    }
    const response = await this.#heard(this.#transport.request(request), line);
    if (isWatch) return { ...response, body: this.#watch(response.body) };
    if (!isWrite(sent) || response.status >= 300 || --this.#writesToCrash > 0) return response;
    this.crash();
    return await never();
  }

  /** What the process gets of a response: the signal's reason, if that is aborted first; nothing, once it has crashed. */
  #heard<T>(answer: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
    return new Promise((resolve, reject) => {
      const tell = (how: () => void): void => {
        signal?.removeEventListener("abort", onAbort);
        if (!this.#isCrashed) how();
      };
      const onAbort = (): void => tell(() => reject(signal?.reason));
      if (signal?.aborted) onAbort();
      signal?.addEventListener("abort", onAbort, { once: true });
      answer.then(
        (value) => tell(() => resolve(value)),
        (error: unknown) => tell(() => reject(error)),
      );
    });
  }

  #watch(body: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
    const watch: WatchLine = new WatchLine(
      body,
      this.#ownClock,
      () => this.#watchLagMs,
      () => this.#watches.delete(watch),
    );
    this.#watches.add(watch);
    return watch;
  }
}

function lineToServer(): AbortController {
  const line = new AbortController();
  // Every request in flight listens to it; this is not a leak.
  process.getBuiltinModule("node:events").setMaxListeners(0, line.signal);
  return line;
}

function outOfReach(): Error {
  return transportError("TRANSPORT_REFUSED", "the server is out of reach: cut off by the test");
}

/** What a manager writes besides the work of its loops, by group: events, its lease, reviews. */
const BESIDE: Readonly<Record<string, RegExp>> = {
  "": /^events$/,
  "events.k8s.io": /^events$/,
  "coordination.k8s.io": /^leases$/,
  "authentication.k8s.io": /reviews$/,
  "authorization.k8s.io": /reviews$/,
};

function isWrite({ method, path }: SentRequest): boolean {
  if (method === "GET" || method === "HEAD") return false;
  const { group, resource } = resourceOf(path);
  return !ownField(BESIDE, group)?.test(resource);
}

/** Parses `/apis/GROUP/VERSION/namespaces/NAMESPACE/RESOURCE/…`, `/api/v1/RESOURCE/…` and so on. */
function resourceOf(path: string): { readonly group: string; readonly resource: string } {
  const [, prefix, ...segments] = path.split("?", 1)[0]!.split("/");
  const group = prefix === "apis" ? (segments.shift() ?? "") : "";
  const [, first = "", , third = ""] = segments;
  return { group, resource: first === "namespaces" && third ? third : first };
}

/** The response that never comes. */
function never(): Promise<never> {
  return new Promise(() => {});
}

function parsed(body: Uint8Array | undefined): unknown {
  if (!body || body.length === 0) return undefined;
  try {
    return JSON.parse(Buffer.from(body).toString("utf8"));
  } catch {
    return undefined;
  }
}
