import type { App, Client, Duration } from "setpoint";
import { type Clock, parseDuration, systemClock } from "setpoint/clock";
import { CustomResourceDefinition } from "setpoint/kinds/apiextensions.k8s.io/v1";
import { Deployment } from "setpoint/kinds/apps/v1";
import { ConfigMap, Event, Namespace, Secret, Service, ServiceAccount } from "setpoint/kinds/v1";
import { Manager } from "setpoint/manager";
import { TestEnvironment } from "setpoint/testing";
import { agentKinds } from "./agents-app.js";
import { openStore } from "./database/open-store.js";
import type { Store } from "./database/store.js";

/** The operator's process in a test. */
export interface Process {
  readonly manager: Manager;
  readonly writes: readonly string[];
}

/** An API server and a clock for a test: the part of a `TestEnvironment` that the suites need. */
export interface Environment extends AsyncDisposable {
  readonly client: Client;
  readonly clock: Clock;
  readonly operator: Process;
  start(parts: readonly App[]): Promise<unknown>;
  idle(): Promise<void>;
  advance(duration: Duration): Promise<void>;
}

/** Where a suite runs: which API server, which database. */
export interface Place {
  readonly name: string;
  /** Virtual time: hours pass at once, and every request is counted. */
  readonly isVirtual: boolean;
  environment(): Promise<Environment>;
  /** An empty database. */
  store(clock: Clock): Promise<Store>;
}

export const NS = "test";
const NAMESPACES = [NS, "other"];

/** The embedded API server in this process, SQLite in memory, virtual time. */
export const virtualPlace: Place = {
  name: "the embedded API server and SQLite",
  isVirtual: true,
  environment: () => TestEnvironment.create({ kinds: [...agentKinds], namespaces: NAMESPACES }),
  store: (clock) => openStore(":memory:", clock),
};

/** The speed-up of time: a minute of the operator takes little more than a second. */
const SPEED = 50;

class FastClock implements Clock {
  readonly #startMs = systemClock.now();
  readonly #originMs = systemClock.monotonic();
  now = (): number => this.#startMs + this.monotonic();
  monotonic = (): number => (systemClock.monotonic() - this.#originMs) * SPEED;
  timer: Clock["timer"] = (delayMs, callback) => systemClock.timer(delayMs / SPEED, callback);
  sleep: Clock["sleep"] = (delayMs, signal) => systemClock.sleep(delayMs / SPEED, signal);
}

const QUIET_STEPS = 8;
const STEP_MS = 20;

/** Any API server, in accelerated real time. Objects of earlier tests are deleted first. */
export class RealEnvironment implements Environment {
  readonly client: Client;
  readonly clock: Clock = new FastClock();
  readonly #managers: Manager[] = [];
  #runs = 0;
  #writes: string[] = [];

  private constructor(client: Client) {
    this.client = client;
  }

  static async create(client: Client): Promise<RealEnvironment> {
    for (const name of NAMESPACES) {
      if (!(await client.find(Namespace, name))) await client.create(Namespace, { metadata: { name } });
    }
    for (const kind of agentKinds) {
      const { name } = kind.crd().metadata;
      if (!(await client.find(CustomResourceDefinition, name!))) {
        await client.create(CustomResourceDefinition, kind.crd() as never);
      }
      await until(async () => (await client.list(kind as never).catch(() => undefined)) !== undefined);
    }
    const kinds = [...agentKinds, Deployment, Secret, ConfigMap, Service, ServiceAccount, Event];
    for (const namespace of NAMESPACES) {
      await client.patch(Namespace, namespace, { type: "merge", body: { metadata: { labels: { team: null } } } });
      for (const kind of kinds) {
        const { items } = await client.list(kind as never, { namespace });
        for (const { metadata } of items as readonly { metadata: { name: string } }[]) {
          await client.delete(kind as never, metadata.name, { namespace });
        }
      }
    }
    return new RealEnvironment(client);
  }

  get operator(): Process {
    return { manager: this.#managers.at(-1)!, writes: this.#writes };
  }

  async start(parts: readonly App[]): Promise<void> {
    const manager = new Manager({ client: this.client, clock: this.clock, grace: "10s" });
    this.#managers.push(manager);
    manager.timeline.subscribe(({ writes }) => {
      this.#runs++;
      this.#writes.push(...writes.map(({ verb, kind, key }) => `${verb} ${kind} ${key}`));
    });
    for (const part of parts) void manager.add(part);
    await manager.start();
    await this.idle();
  }

  /** Waits until nothing has run for a while. Slow steps do not count: the machine, or the server, is busy. */
  async idle(): Promise<void> {
    for (let quiet = 0, runs = this.#runs; quiet < QUIET_STEPS; runs = this.#runs) {
      const startedMs = systemClock.monotonic();
      await systemClock.sleep(STEP_MS);
      await this.client.find(Namespace, NS);
      const isBusy = systemClock.monotonic() - startedMs > 2 * STEP_MS;
      if (this.#runs !== runs) quiet = 0;
      else if (!isBusy) quiet++;
    }
  }

  async advance(duration: Duration): Promise<void> {
    await this.clock.sleep(parseDuration(duration, "duration"));
    await this.idle();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#managers.map((manager) => manager.stop()));
  }
}

async function until(isTrue: () => Promise<boolean>): Promise<void> {
  while (!(await isTrue())) await systemClock.sleep(STEP_MS);
}
