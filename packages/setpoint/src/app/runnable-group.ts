import type { Clock } from "../clock/clock.js";
import { type Duration, parseDuration } from "../clock/duration.js";
import { systemClock } from "../clock/system-clock.js";
import { SetpointError } from "../errors/error.js";

/** Something that runs until its signal is aborted: a feed, a poller, a server. */
export interface Runnable {
  readonly name: string;
  run(signal: AbortSignal): Promise<void>;
}

export interface RunnableGroupOptions {
  readonly name: string;
  readonly members?: readonly Runnable[];
  /** Whether the failure of a member stops the whole group. Defaults to yes. */
  readonly onError?: (error: unknown, member: string) => boolean | Promise<boolean>;
  /** How long the other members may take to end. Defaults to no limit. */
  readonly exitWait?: Duration;
  readonly clock?: Clock;
}

interface Live {
  readonly member: Runnable;
  readonly stop: AbortController;
  ended: Promise<void> | undefined;
}

/**
 * Runs several members as one, with an error policy; members may be added and removed while it runs. The group itself
 * is a runnable for a manager.
 *
 * ```ts
 * const group = new RunnableGroup({ name: "feeds", onError: (error) => isFatal(error), exitWait: "10s" });
 * group.add({ name: "prices", run: (signal) => followPrices(signal) });
 * manager.addRunnable(group);
 * ```
 */
export class RunnableGroup {
  readonly name: string;
  readonly #options: RunnableGroupOptions;
  readonly #members = new Map<string, Live>();
  readonly #exitWaitMs: number | undefined;
  /** Set while new members start at once, that is until the group begins to stop. */
  #fail: ((error: unknown) => void) | undefined;
  #isRunning = false;

  constructor(options: RunnableGroupOptions) {
    this.name = options.name;
    this.#options = options;
    const { exitWait } = options;
    this.#exitWaitMs = exitWait === undefined ? undefined : parseDuration(exitWait, `group ${options.name}: exitWait`);
    for (const member of options.members ?? []) this.add(member);
  }

  /** Starts the member at once if the group runs. Throws `RUNNABLE_INVALID` if the name is taken. */
  add(member: Runnable): void {
    if (this.#members.has(member.name)) throw this.#invalid(`it has a ${member.name} already`);
    const live: Live = { member, stop: new AbortController(), ended: undefined };
    this.#members.set(member.name, live);
    if (this.#fail) this.#start(live);
  }

  /** Stops one member, and rejects with `RUNNABLE_STUCK` if it does not end. Does nothing if the member does not exist. */
  async remove(name: string): Promise<void> {
    const live = this.#members.get(name);
    this.#members.delete(name);
    const stuck = await this.#end(live ? [live] : []);
    if (stuck.length > 0) throw this.#stuck(stuck);
  }

  /**
   * Runs until the signal is aborted, then resolves. Rejects with the error that the policy did not accept, once the
   * other members have ended. If some do not end, rejects with `RUNNABLE_STUCK`, which names them and has the error as
   * its cause.
   */
  async run(signal: AbortSignal): Promise<void> {
    if (this.#isRunning) throw this.#invalid("it runs already");
    this.#isRunning = true;
    const over = new AbortController();
    const failure = new Promise<{ readonly error: unknown } | undefined>((resolve) => {
      this.#fail = (error) => resolve({ error });
      if (signal.aborted) resolve(undefined);
      signal.addEventListener("abort", () => resolve(undefined), { once: true, signal: over.signal });
    });
    for (const live of this.#members.values()) this.#start(live);
    const failed = await failure;
    over.abort();
    // Members added from now on wait for the next run, because this one would not stop them.
    this.#fail = undefined;
    const lives = [...this.#members.values()];
    this.#members.clear();
    const stuck = await this.#end(lives);
    this.#isRunning = false;
    if (stuck.length > 0) throw this.#stuck(stuck, failed && { cause: failed.error });
    if (failed) throw failed.error;
  }

  #start(live: Live): void {
    const { member, stop } = live;
    live.ended = (async () => {
      try {
        await member.run(stop.signal);
      } catch (error) {
        if (!stop.signal.aborted) await this.#onError(error, member.name);
      }
    })();
  }

  async #onError(error: unknown, member: string): Promise<void> {
    try {
      const endsAll = (await this.#options.onError?.(error, member)) ?? true;
      if (endsAll) this.#fail?.(error);
    } catch (thrown) {
      // A policy that throws accepts nothing.
      this.#fail?.(thrown);
    }
  }

  /** Stops these members and returns the names of those that do not end. */
  async #end(lives: readonly Live[]): Promise<readonly string[]> {
    const { clock = systemClock } = this.#options;
    const going = new Set<string>();
    const ends = lives.map(async ({ member, stop, ended }) => {
      going.add(member.name);
      stop.abort();
      await ended;
      going.delete(member.name);
    });
    const over = new AbortController();
    const waits = this.#exitWaitMs === undefined ? [] : [clock.sleep(this.#exitWaitMs, over.signal).catch(() => {})];
    await Promise.race([Promise.all(ends), ...waits]);
    over.abort();
    return [...going];
  }

  #stuck(names: readonly string[], options?: { readonly cause: unknown }): SetpointError {
    const message = `group ${this.name}: ${names.join(", ")} did not end within ${this.#exitWaitMs} ms`;
    return new SetpointError("RUNNABLE_STUCK", message, options);
  }

  #invalid(message: string): SetpointError {
    return new SetpointError("RUNNABLE_INVALID", `group ${this.name}: ${message}`);
  }
}
