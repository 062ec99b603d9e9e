import { createClient } from "../../client/api-client.js";
import type { Client } from "../../client/client.js";
import type { Transport, TransportRequest, TransportResponse } from "../../client/transport/transport.js";
import { transportError, untilAborted } from "../../client/transport/transport-error.js";
import type { Clock, Timer } from "../../clock/clock.js";
import { seededRandom } from "../../clock/random.js";
import { sleepWith } from "../../clock/sleep.js";
import type { World } from "../../controller/world.testing.js";
import { mutations, serverRequests } from "../../testing/server-requests.testing.js";
import { Manager, type ManagerOptions } from "../manager.js";

/** The clock of a process that may be suspended: when it continues, time has passed, and none of its timers has fired yet. */
class StoppableClock implements Clock {
  readonly #clock: Clock;
  #stoppedMs = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  now(): number {
    return this.#clock.now() + this.#stoppedMs;
  }

  monotonic(): number {
    return this.#clock.monotonic() + this.#stoppedMs;
  }

  timer(delayMs: number, callback: () => void): Timer {
    return this.#clock.timer(delayMs, callback);
  }

  sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
    return sleepWith(this, delayMs, signal);
  }

  stopFor(ms: number): void {
    this.#stoppedMs += ms;
  }
}

/** What happens to a request: `hang` leaves it without a response, `undefined` lets it pass. */
type Way = (name: string) => TransportResponse | "hang" | undefined;

/** A leading process whose requests a test controls; the test also decides when the lease ends. */
export class LeaderProcess {
  readonly client: Client;
  readonly manager: Manager;
  /** `PATCH websites/a/status`: requests since the end of the lease, except watches and those about the lease. */
  readonly late: string[] = [];
  /** Requests that hang, and the reasons with which this side aborted them. */
  readonly hanging: string[] = [];
  readonly ends: unknown[] = [];
  way: Way | undefined;
  /** The lease ends when this request is answered, and only the clock shows it. */
  endsAfter: string | undefined;
  #changesAtEnd: Readonly<Record<string, number>> | undefined;
  #isCutOff = false;
  readonly #world: World;
  readonly #clock: StoppableClock;

  constructor(world: World, options: Partial<ManagerOptions> = {}) {
    this.#world = world;
    this.#clock = new StoppableClock(world.clock);
    const transport: Transport = { request: (each) => this.#request(each), [Symbol.asyncDispose]: async () => {} };
    const common = { clock: this.#clock, random: seededRandom(2) };
    this.client = createClient({ transport, server: "in-process", ...common });
    const leaderElection = { identity: "one" };
    const clusters = { edge: this.client };
    this.manager = new Manager({
      ...{ client: this.client, clusters, leaderElection, preflight: false, ...common },
      ...options,
    });
  }

  get hasEnded(): boolean {
    return this.#changesAtEnd !== undefined;
  }

  /** Stops renewals; the lease ends when its time is over. */
  cutOff(): void {
    this.#isCutOff = true;
  }

  /** What has changed on the server since the end of the lease. */
  async lateChanges(): Promise<readonly string[]> {
    const changes = Object.entries(mutations(await serverRequests(this.#world.client)));
    return changes.flatMap(([name, count]) => (count === this.#changesAtEnd?.[name] ? [] : [name]));
  }

  async end(): Promise<void> {
    this.#changesAtEnd = mutations(await serverRequests(this.#world.client));
    this.#isCutOff = true;
    this.#clock.stopFor(20_000);
  }

  async #request(request: TransportRequest): Promise<TransportResponse> {
    const name = nameOf(request);
    if (name.includes("leases")) {
      if (this.#isCutOff) throw transportError("TRANSPORT_REFUSED", "the server is out of reach");
      return this.#send(request);
    }
    if (request.path.includes("watch=true")) return this.#send(request);
    if (this.hasEnded) this.late.push(name);
    const way = this.way?.(name);
    if (way === "hang") return this.#hang(name, request.signal);
    const answer = way ?? (await this.#send(request));
    if (name === this.endsAfter && !this.hasEnded) await this.end();
    return answer;
  }

  async #hang(name: string, signal: AbortSignal | undefined): Promise<never> {
    this.hanging.push(name);
    this.#changesAtEnd ??= mutations(await serverRequests(this.#world.client));
    return untilAborted(new Promise<never>(() => {}), signal).catch((error: unknown) => {
      this.ends.push(signal?.reason);
      throw error;
    });
  }

  /** Uses the administrator's client, which is not controlled. */
  #send({ method, path, headers, body, signal }: TransportRequest): Promise<TransportResponse> {
    return this.#world.client.raw({ method, path, headers, body, signal, retry: false, headTimeout: 0 });
  }
}

/** Method, resource and name without random suffixes: `GET configmaps`, `PATCH websites/a/status`, `PATCH events`. */
function nameOf({ method, path }: TransportRequest): string {
  const resource = path.split("?")[0]!.replace(/^\/(api|apis\/[^/]+)\/[^/]+\/(namespaces\/[^/]+\/)?/, "");
  return `${method} ${resource.replace(/^events\/.*/, "events")}`;
}
