import { seededRandom } from "../clock/random.js";
import { VirtualClock } from "../clock/virtual-clock.js";
import { type Graph, type GraphOptions, openGraph } from "./graph.js";
import type { GraphContext } from "./graph-context.js";
import { type GraphKind, type GraphKindOptions, type GraphResult, graphKind } from "./graph-kind.js";
import type { GraphStore } from "./graph-store.js";
import { memoryStore } from "./memory-store.js";
import type { GraphResource, ResourceName } from "./resource.js";

export interface LabSpec {
  readonly value?: number;
}
type LabResource = GraphResource<LabSpec, unknown>;

/** A call of the kind's functions that the test has not answered yet. */
export interface Call {
  readonly phase: "reconcile" | "remove" | "rename";
  readonly name: string;
  readonly resource: LabResource;
  readonly ctx: GraphContext;
  readonly move: { readonly from: ResourceName; readonly to: ResourceName } | undefined;
  /** Makes the run return this. */
  readonly return: (result?: GraphResult) => Promise<void>;
  readonly throw: (error: unknown) => Promise<void>;
}

export const named = (name: string): ResourceName => ({ kind: "Node", name });

/** A graph with one kind, whose every run waits for the test, on virtual time. */
export class Lab implements AsyncDisposable {
  readonly clock: VirtualClock;
  readonly store: GraphStore;
  /** Runs that were started, in order: `reconcile a`. */
  readonly log: string[] = [];
  readonly #calls = new Set<Call>();
  #graph!: Graph;

  private constructor(clock: VirtualClock, store: GraphStore) {
    this.clock = clock;
    this.store = store;
  }

  static async create(
    kind: Partial<GraphKindOptions<LabSpec, unknown>> = {},
    options: Partial<GraphOptions> & { readonly before?: Lab } = {},
  ): Promise<Lab> {
    const { before, ...others } = options;
    const lab = new Lab(before?.clock ?? new VirtualClock(), before?.store ?? memoryStore());
    const kinds = [lab.#kind(kind), ...(options.kinds ?? [])];
    lab.#graph = await openGraph({ clock: lab.clock, store: lab.store, random: seededRandom(1), ...others, kinds });
    await lab.settle();
    return lab;
  }

  get graph(): Graph {
    return this.#graph;
  }

  /** The names whose runs wait for an answer, in order of their start. */
  get running(): readonly string[] {
    return [...this.#calls].map(({ name }) => name);
  }

  call(name: string): Call {
    const found = [...this.#calls].find((call) => call.name === name);
    if (!found) throw new Error(`no run of ${name} is under way; there are: ${this.running.join(", ")}`);
    return found;
  }

  create(name: string, refs: readonly string[] = [], spec: LabSpec = {}): void {
    this.graph.create({ name: named(name), refs: refs.map(named), spec });
  }

  status(name: string): string | undefined {
    return this.graph.get(named(name))?.status;
  }

  settle(): Promise<void> {
    return this.clock.settle();
  }

  /** Makes every run return `done` with the given output version, until none is left. */
  async finishAll(outputOf: (name: string) => string = () => "same"): Promise<void> {
    await this.settle();
    for (let [call] = this.#calls; call; [call] = this.#calls) {
      await call.return(call.phase === "reconcile" ? { outputVersion: outputOf(call.name) } : undefined);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closing = this.#graph[Symbol.asyncDispose]();
    for (const call of this.#calls) void call.return();
    await closing;
  }

  #kind(options: Partial<GraphKindOptions<LabSpec, unknown>>): GraphKind<LabSpec, unknown> {
    return graphKind<LabSpec, unknown>({
      name: "Node",
      reconcile: (resource, ctx) => this.#wait("reconcile", resource, ctx),
      remove: (resource, ctx) => this.#wait("remove", resource, ctx),
      rename: (resource, move, ctx) => this.#wait("rename", resource, ctx, move),
      ...options,
    });
  }

  #wait(phase: Call["phase"], resource: LabResource, ctx: GraphContext, move?: Call["move"]): Promise<GraphResult> {
    const { name } = resource.meta.name;
    this.log.push(`${phase} ${name}`);
    return new Promise((resolve, reject) => {
      const answer = (act: () => void) => {
        this.#calls.delete(call);
        act();
        return this.settle();
      };
      const call: Call = {
        phase,
        name,
        resource,
        ctx,
        move,
        return: (result) => answer(() => resolve(result)),
        throw: (error) => answer(() => reject(error)),
      };
      this.#calls.add(call);
    });
  }
}
