import type { App } from "../app/app.js";
import { createClient } from "../client/api-client.js";
import type { Client } from "../client/client.js";
import type { Transport, TransportRequest, TransportResponse } from "../client/transport.js";
import { transportError } from "../client/transport-error.js";
import { type Duration, parseDuration } from "../clock/duration.js";
import { seededRandom, systemRandom } from "../clock/random.js";
import { systemClock } from "../clock/system-clock.js";
import type { VirtualClock } from "../clock/virtual-clock.js";
import { Manager, type ManagerOptions } from "../manager/manager.js";
import { checkPart, type Part } from "../manager/part.js";
import { WatchLine } from "./watch-line.js";

/** A request that the operator under test sent. */
export interface SentRequest {
  readonly method: TransportRequest["method"];
  readonly path: string;
  /** The parsed JSON body, where there is one. */
  readonly body: unknown;
}

/**
 * Answers a request in place of the server (see `errorAnswer`), fails it with an error, or leaves it without an answer
 * until it is aborted (`"hang"`); undefined lets it through.
 */
export type RequestFault = (request: SentRequest) => TransportResponse | Error | "hang" | undefined;

/**
 * One process of an operator as a test plays it: its own client, caches and queues; nothing is shared with another but
 * the server. It can be stopped in order, or crash: then its requests are never answered again.
 */
export class OperatorProcess implements AsyncDisposable {
  readonly manager: Manager;
  readonly client: Client;
  /** Everything it sent, watches left out. */
  readonly requests: SentRequest[] = [];
  readonly #transport: Transport;
  readonly #clock: VirtualClock;
  readonly #apps: readonly App[];
  readonly #watches = new Set<WatchLine>();
  readonly #faults: Set<RequestFault>;
  readonly #crashed: Promise<void>;
  #markCrashed!: () => void;
  #isCrashed = false;
  #isCut = false;
  #watchLagMs = 0;
  #writesToCrash = Number.POSITIVE_INFINITY;

  constructor(
    transport: Transport,
    clock: VirtualClock,
    seed: number,
    faults: Set<RequestFault>,
    parts: readonly Part[],
    options: Partial<ManagerOptions>,
  ) {
    this.#transport = transport;
    this.#clock = clock;
    this.#faults = faults;
    this.#crashed = new Promise((resolve) => {
      this.#markCrashed = resolve;
    });
    const counted: Transport = { request: (request) => this.#send(request), [Symbol.asyncDispose]: async () => {} };
    this.client = createClient({ transport: counted, server: "in-process", clock, random: seededRandom(seed) });
    // TLS is checked against real time, whatever the clock of the test says.
    const webhooks = { clock: systemClock, random: systemRandom, ...options.webhooks };
    this.manager = new Manager({ ...options, webhooks, client: this.client, clock, random: seededRandom(seed + 1) });
    parts.forEach(checkPart);
    this.#apps = parts.filter((part) => part.type === "app");
    for (const part of parts) if (part.type !== "app") void this.manager.add(part);
  }

  /** Begins to work. Resolves when its apps are installed and served; rejects where they cannot be. */
  async start(): Promise<void> {
    void this.manager.start().catch(() => {});
    await this.#clock.advance(0);
    for (const app of this.#apps) await this.manager.add(app);
  }

  /** Requests that change something, as `PATCH /api/v1/…`, without their queries; events are left out. */
  get writes(): readonly string[] {
    return this.requests.filter(isWrite).map(({ method, path }) => `${method} ${path.split("?")[0]}`);
  }

  /** Crashes right after the server has done the `count`th write from now on, whose answer is lost. */
  crashAfterWrite(count: number): void {
    this.#writesToCrash = count;
  }

  /** Cuts this process off from the server until disposed: watches break, and no request gets through. */
  cut(): Disposable {
    this.#isCut = true;
    for (const watch of [...this.#watches]) watch.cut(outOfReach());
    return {
      [Symbol.dispose]: () => {
        this.#isCut = false;
      },
    };
  }

  /** What its watches show comes this much later until disposed: a cache that is stale by so long. */
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

  /** Stops in order; a process that has crashed is only let go of. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#isCrashed) await this.manager.stop();
  }

  async #send(request: TransportRequest): Promise<TransportResponse> {
    const sent = { method: request.method, path: request.path, body: parsed(request.body) };
    if (this.#isCrashed) return await never(request.signal);
    const isWatch = request.path.includes("watch=true");
    if (!isWatch) this.requests.push(sent);
    if (this.#isCut) throw outOfReach();
    for (const fault of this.#faults) {
      const result = fault(sent);
      if (result instanceof Error) throw result;
      if (result === "hang") return await never(request.signal);
      if (result) return result;
    }
    const response = await this.#transport.request(request);
    if (isWatch) return { ...response, body: this.#watch(response.body) };
    if (!isWrite(sent) || response.status >= 300 || --this.#writesToCrash > 0) return response;
    this.#isCrashed = true;
    // The dead hear nothing: what happens from now on is for another process to handle.
    for (const watch of [...this.#watches]) watch.cut(outOfReach());
    this.manager.abandon();
    this.#markCrashed();
    return await never(request.signal);
  }

  #watch(body: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
    const watch: WatchLine = new WatchLine(
      body,
      this.#clock,
      () => this.#watchLagMs,
      () => this.#watches.delete(watch),
    );
    this.#watches.add(watch);
    return watch;
  }
}

function outOfReach(): Error {
  return transportError("TRANSPORT_REFUSED", "the server is out of reach: cut off by the test");
}

function isWrite({ method, path }: SentRequest): boolean {
  return method !== "GET" && method !== "HEAD" && !/\/(events|leases|[a-z]+reviews)(\/|\?|$)/.test(path);
}

function parsed(body: Uint8Array | undefined): unknown {
  if (!body || body.length === 0) return undefined;
  try {
    return JSON.parse(Buffer.from(body).toString("utf8"));
  } catch {
    return undefined;
  }
}

/** A crashed process hears nothing any more. */
function never(signal: AbortSignal | undefined): Promise<TransportResponse> {
  return new Promise((_resolve, reject) => {
    signal?.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}
