import type { Clock } from "../../clock/clock.js";
import type { KubeObject } from "../../kinds/object.js";
import type { SpanOrigin } from "../timeline/traces.js";
import { stepOf } from "./directives.js";

/** For how many objects to keep the state at the last run, for `changedPaths`. */
const MAX_REMEMBERED = 1_000;
/** How many writes to keep that caused a key's next run. */
const MAX_ORIGINS = 32;

/** What a controller remembers about its keys between runs. Nothing of it may outlive the object. */
export class KeyMemory {
  /** `ctx.state` by key. */
  readonly #states = new Map<string, Record<string, unknown>>();
  /** Until when a key is delayed because of a hot loop. */
  readonly #dampedUntilMs = new Map<string, number>();
  /** The object at its last run. */
  readonly #before = new Map<string, KubeObject>();
  /** The last step of a paused object. */
  readonly #steps = new Map<string, string>();
  /** The writes of this process that woke the key since its last run. */
  readonly #origins = new Map<string, SpanOrigin[]>();
  readonly #parked = new Set<string>();

  get parked(): readonly string[] {
    return [...this.#parked];
  }

  /** Shared by the runs of a key until one is done. */
  state(key: string, initial: () => Record<string, unknown>): Record<string, unknown> {
    const state = this.#states.get(key) ?? initial();
    this.#states.set(key, state);
    return state;
  }

  endState(key: string): void {
    this.#states.delete(key);
  }

  park(key: string): void {
    this.#parked.add(key);
  }

  unpark(key: string): void {
    this.#parked.delete(key);
  }

  damp(key: string, untilMs: number): void {
    this.#dampedUntilMs.set(key, untilMs);
  }

  undamp(key: string): void {
    this.#dampedUntilMs.delete(key);
  }

  /** How much longer the key is delayed. */
  dampedMs(key: string, clock: Pick<Clock, "monotonic">): number {
    const untilMs = this.#dampedUntilMs.get(key);
    return untilMs === undefined ? 0 : Math.max(0, untilMs - clock.monotonic());
  }

  /** Keeps the first of several changes since the last run. Changes that no run follows are evicted by newer ones. */
  noteBefore(key: string, old: KubeObject): void {
    if (this.#before.has(key)) return;
    if (this.#before.size >= MAX_REMEMBERED) this.#before.delete(this.#before.keys().next().value!);
    this.#before.set(key, old);
  }

  takeBefore(key: string): KubeObject | undefined {
    const before = this.#before.get(key);
    this.#before.delete(key);
    return before;
  }

  /** A paused object runs once for each new value of its step annotation. */
  takeStep(key: string, object: KubeObject): boolean {
    const step = stepOf(object);
    if (step === undefined || this.#steps.get(key) === step) return false;
    this.#steps.set(key, step);
    return true;
  }

  noteOrigin(key: string, origin: SpanOrigin): void {
    const origins = this.#origins.get(key) ?? [];
    if (origins.length < MAX_ORIGINS) origins.push(origin);
    this.#origins.set(key, origins);
  }

  takeOrigins(key: string): readonly SpanOrigin[] {
    const origins = this.#origins.get(key) ?? [];
    this.#origins.delete(key);
    return origins;
  }

  forget(key: string): void {
    this.#parked.delete(key);
    for (const known of [this.#states, this.#dampedUntilMs, this.#before, this.#steps, this.#origins])
      known.delete(key);
  }
}
