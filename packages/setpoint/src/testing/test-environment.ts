import type { App } from "../app/app.js";
import type { Client } from "../client/client.js";
import type { Transport } from "../client/transport/transport.js";
import type { Clock } from "../clock/clock.js";
import { type Duration, parseDuration } from "../clock/duration.js";
import { type Random, seededRandom } from "../clock/random.js";
import { VirtualClock } from "../clock/virtual-clock.js";
import type { Loop } from "../controller/loop.js";
import { SetpointError } from "../errors/error.js";
import { CustomResourceDefinition } from "../kinds/builtin/apiextensions.k8s.io/v1.js";
import { Namespace } from "../kinds/builtin/v1.js";
import { invalidKind } from "../kinds/declaration.js";
import type { Kind } from "../kinds/kind.js";
import type { KubeObject, NewObject } from "../kinds/object.js";
import { unknownOptions } from "../kinds/unknown-options.js";
import type { ManagerOptions } from "../manager/manager.js";
import { OperatorProcess, type RequestFault } from "./operator-process.js";

/** The interface of the embedded control plane, which depends on this package and is loaded on first use. */
interface EmbeddedControlPlane extends AsyncDisposable {
  readonly transport: Transport;
  readonly client: Client;
  snapshot(): EnvironmentSnapshot;
}

/** All objects of a control plane at one moment: a `ControlPlaneSnapshot`. */
export interface EnvironmentSnapshot {
  readonly revision: number;
  readonly takenAtMs: number;
  /** Writes it to a file that only this user can read; `ControlPlaneSnapshot.load` reads it. */
  save(file: string): Promise<void>;
}

type StartControlPlane = (options: {
  clock: Clock;
  random: Random;
  from?: EnvironmentSnapshot;
  workloads?: boolean | Readonly<Record<string, boolean>>;
}) => Promise<EmbeddedControlPlane>;

export interface TestEnvironmentOptions {
  /** Controllers, watchers and apps to start with the environment; start more with `start`. */
  readonly loops?: readonly (Loop | App)[];
  /** Kinds of `resource(…)`, whose CRDs are installed, or CRDs. */
  readonly kinds?: readonly ({ crd(): object } | NewObject<CustomResourceDefinition>)[];
  readonly namespaces?: readonly string[];
  /** Starts with these objects, at the time of the snapshot; leaves `kinds` and `namespaces` that are among them. */
  readonly from?: EnvironmentSnapshot;
  /**
   * Runs simulated workloads: Deployments, StatefulSets and their pods, on simulated nodes and virtual time. `true` for
   * all, or a selection such as `{ deployments: true }`. Defaults to none: only an API server.
   */
  readonly simulate?: boolean | Readonly<Record<string, boolean>>;
  /** The seed of everything random. Defaults to 1; if you use a new one in each run, print it. */
  readonly seed?: number;
  readonly manager?: Partial<ManagerOptions>;
}

const OPTIONS = {
  loops: true,
  kinds: true,
  namespaces: true,
  from: true,
  simulate: true,
  seed: true,
  manager: true,
} as const satisfies Record<keyof TestEnvironmentOptions, true>;

/** A test with a misspelt option would wait for nothing. */
function checkOptions(options: TestEnvironmentOptions): void {
  const [unknown] = unknownOptions(options, Object.keys(OPTIONS));
  if (unknown !== undefined) throw new SetpointError("CONTROLLER_INVALID", `TestEnvironment: ${unknown}`);
}

type Definable = NonNullable<TestEnvironmentOptions["kinds"]>[number];

function definitionOf(kind: Definable, at: number): NewObject<CustomResourceDefinition> {
  const { crd, metadata } = (kind ?? {}) as { crd?: unknown; metadata?: { name?: unknown } };
  if (typeof crd === "function") return (kind as { crd(): NewObject<CustomResourceDefinition> }).crd();
  if (typeof metadata?.name === "string") return kind as NewObject<CustomResourceDefinition>;
  const why = "neither a kind of resource(…) nor a CustomResourceDefinition; built-in kinds need no installation";
  throw invalidKind(`kinds[${at}]`, why);
}

/**
 * An operator and an API server in one test: the real embedded control plane in this process, on virtual time, from a
 * seed. Nothing waits for real time, and every run is deterministic.
 *
 * ```ts
 * await using env = await TestEnvironment.create({ kinds: [Website], loops: [websites] });
 * await env.client.create(Website, { metadata: { namespace: "default", name: "a" }, spec: { image: "nginx" } });
 * await env.idle();
 * expect(await env.client.find(Deployment, "a", { namespace: "default" })).toBeDefined();
 * ```
 */
export class TestEnvironment implements AsyncDisposable {
  readonly clock: VirtualClock;
  /** An administrator's client, whose requests are neither recorded nor failed. */
  readonly client: Client;
  readonly #plane: EmbeddedControlPlane;
  readonly #options: TestEnvironmentOptions;
  readonly #faults = new Set<RequestFault>();
  readonly #processes: OperatorProcess[] = [];

  private constructor(plane: EmbeddedControlPlane, clock: VirtualClock, options: TestEnvironmentOptions) {
    this.#plane = plane;
    this.#options = options;
    this.clock = clock;
    this.client = plane.client;
  }

  /**
   * Rejects with `CONTROL_PLANE_MISSING` if the package `@setpoint/control-plane` is not installed, with `KIND_INVALID`
   * for kinds without a definition, and with `CONTROLLER_INVALID` for unknown options.
   */
  static async create(options: TestEnvironmentOptions = {}): Promise<TestEnvironment> {
    checkOptions(options);
    const { from, seed = 1 } = options;
    const definitions = (options.kinds ?? []).map(definitionOf);
    const clock = new VirtualClock(from?.takenAtMs);
    const start = await loadControlPlane();
    const plane = await start({
      clock,
      // The snapshot's objects have names and uids from their seed: continuing with the same seed would repeat them.
      random: seededRandom(from ? seed + from.revision * FORK_SEED_STEP : seed),
      ...(from && { from }),
      ...(options.simulate !== undefined && { workloads: options.simulate }),
    });
    const env = new TestEnvironment(plane, clock, options);
    for (const name of options.namespaces ?? []) await env.#ensure(Namespace, { metadata: { name } });
    for (const definition of definitions) await env.#ensure(CustomResourceDefinition, definition);
    await env.idle();
    if (options.loops) await env.start(options.loops);
    return env;
  }

  /** The operator's process: the last one started. */
  get operator(): OperatorProcess {
    const process = this.#processes.at(-1);
    if (!process) throw new SetpointError("CONTROLLER_INVALID", "no operator runs: pass loops, or call start");
    return process;
  }

  /**
   * Starts another process; without loops, one with those of the options: a restart. Resolves when its apps are
   * installed and served, over real sockets: await requests that reach them.
   */
  async start(loops: readonly (Loop | App)[] = this.#options.loops ?? []): Promise<OperatorProcess> {
    const seed = (this.#options.seed ?? 1) * 1000 + this.#processes.length * 10;
    const manager = this.#options.manager ?? {};
    const process = new OperatorProcess(this.#plane.transport, this.clock, seed, this.#faults, loops, manager);
    this.#processes.push(process);
    await process.start();
    await this.idle();
    return process;
  }

  /** Runs everything that needs no time to pass. Retries and waits stay pending: see {@link advance}. */
  async idle(): Promise<void> {
    await this.clock.advance(0);
  }

  /** Advances time, with everything that happens meanwhile. */
  async advance(duration: Duration): Promise<void> {
    await this.clock.advance(parseDuration(duration, "duration"));
  }

  /** All current objects, to start any number of environments with: `create({ from })`. */
  snapshot(): EnvironmentSnapshot {
    return this.#plane.snapshot();
  }

  /**
   * Another environment that continues from here: its own time, control plane and operator, which starts as after a
   * crash. From then on the two are independent. The cost does not depend on the number of objects, except for the
   * operator's caches.
   */
  fork(options: Omit<TestEnvironmentOptions, "from"> = {}): Promise<TestEnvironment> {
    return TestEnvironment.create({ ...this.#options, ...options, from: this.snapshot() });
  }

  /** Fails or answers requests of all operators, until disposed. */
  fault(fault: RequestFault): Disposable {
    this.#faults.add(fault);
    return { [Symbol.dispose]: () => void this.#faults.delete(fault) };
  }

  async #ensure<T extends KubeObject>(kind: Kind<T>, object: NewObject<T>): Promise<void> {
    if (this.#options.from && (await this.client.find(kind, object.metadata.name!))) return;
    await this.client.create(kind, object);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#faults.clear();
    const stopping = Promise.all(this.#processes.map((process) => process[Symbol.asyncDispose]()));
    // Runs that ignore their signal are given up after the grace period, and virtual time must pass for that.
    await this.clock.advance(parseDuration(this.#options.manager?.grace ?? DEFAULT_GRACE, "grace") + AFTER_GRACE_MS);
    await stopping;
    const closing = this.#plane[Symbol.asyncDispose]();
    await this.clock.advance(5_000);
    await closing;
  }
}

/** A manager's own. */
const DEFAULT_GRACE: Duration = "30s";
/** How long a stop may take after the grace period: abandoned runs, webhooks, events, the lease. */
const AFTER_GRACE_MS = 30_000;
/** The distance between seeds, large enough that two do not overlap. */
const FORK_SEED_STEP = 7919;

/** Imported by name at run time, because the control plane depends on this package. */
async function loadControlPlane(): Promise<StartControlPlane> {
  const name = "@setpoint/control-plane";
  try {
    return ((await import(name)) as { controlPlane: StartControlPlane }).controlPlane;
  } catch (cause) {
    throw new SetpointError("CONTROL_PLANE_MISSING", `the package ${name} is missing: npm install --save-dev ${name}`, {
      cause,
    });
  }
}
