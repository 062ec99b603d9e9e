import { isAlreadyExists, isConflict } from "../../client/api-error.js";
import type { Client } from "../../client/client.js";
import type { Clock } from "../../clock/clock.js";
import { type Duration, parseDuration } from "../../clock/duration.js";
import { jitter, type Random } from "../../clock/random.js";
import { timeoutSignal } from "../../clock/timeout-signal.js";
import { SetpointError } from "../../errors/error.js";
import { Lease } from "../../kinds/builtin/coordination.k8s.io/v1.js";
import { formatMicroTime } from "../../kinds/time.js";
import type { Fence } from "../../loop/fence.js";
import { type Logger, silentLogger } from "../../loop/logger.js";

type LeaseSpec = NonNullable<Lease["spec"]>;

/** The defaults of client-go. */
export const DEFAULT_ELECTION = { lease: "15s", renew: "10s", retry: "2s" } as const;

type ElectionTimes = Readonly<Record<keyof typeof DEFAULT_ELECTION, Duration>>;

export interface LeaderElectorOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly namespace: string;
  readonly name: string;
  /** Identifies this process; must be unique. */
  readonly identity: string;
  /** How long others wait for a lease that is not renewed. Defaults to 15 s, as in client-go. */
  readonly lease?: Duration;
  /**
   * How long a leader leads without a renewal, counted from the start of its last successful one; each attempt may take
   * half of it. Defaults to 10 s. Must be below `lease`: the difference covers requests in flight and clock drift.
   */
  readonly renew?: Duration;
  /** The pause between attempts. Defaults to 2 s. */
  readonly retry?: Duration;
  readonly log?: Logger;
  /** Called after each renewal with the time for which this process still leads. */
  readonly onRenewed?: (leadsForMs: number) => void;
  /** Called before each renewal; false lets the lease expire. */
  readonly mayRenew?: () => boolean;
}

/** The durations of an election. Throws `LEASE_INVALID` if no process could keep a lease with them. */
export function electionTimes({ lease, renew, retry }: ElectionTimes): {
  readonly leaseMs: number;
  readonly renewMs: number;
  readonly retryMs: number;
} {
  const leaseMs = parseDuration(lease, "leaderElection.lease");
  const renewMs = parseDuration(renew, "leaderElection.renew");
  const retryMs = parseDuration(retry, "leaderElection.retry");
  if (leaseMs > renewMs && renewMs > retryMs * 1.2) return { leaseMs, renewMs, retryMs };
  const times = `lease ${leaseMs} ms, renewal ${renewMs} ms, retry ${retryMs} ms`;
  throw new SetpointError("LEASE_INVALID", `${times}: each must be clearly below the one before`);
}

/** What a manager needs from an election. */
export interface Elector {
  readonly fence: Fence;
  /** Aborted once this process no longer leads. */
  readonly lost: AbortSignal;
  readonly isLeading: boolean;
  /** The Lease of the election. */
  readonly lease: { readonly namespace: string; readonly name: string };
  /** Resolves when this process leads; rejects when `signal` is aborted. */
  acquire(signal: AbortSignal): Promise<void>;
  /** Releases the lease. Call it when all guarded work has ended. */
  release(): Promise<void>;
}

/**
 * Elects one of several processes by a Lease.
 *
 * 1. `acquire` waits until the lease is free: it has no holder, or has not changed for its duration by our clock. Times
 * in the lease are never compared with ours, so clock skew does no harm.
 * 2. While leading, it renews the lease. `fence` is open until `renew` after the start of the last successful renewal,
 * and no longer, even if the event loop was blocked. Others may take the lease after `lease`.
 * 3. `lost` is aborted when that time is over, or another process took the lease. `release` frees it, so that the next
 * leader need not wait.
 */
export class LeaderElector implements Elector, AsyncDisposable {
  readonly #options: Required<Omit<LeaderElectorOptions, "log" | "onRenewed" | "mayRenew">> &
    Pick<LeaderElectorOptions, "onRenewed" | "mayRenew">;
  readonly #log: Logger;
  readonly #lost = new AbortController();
  readonly #stopped = new AbortController();
  readonly #times: ReturnType<typeof electionTimes>;
  /** The lease as last seen, and since when: its holder has that time plus its duration. */
  #seen: { readonly lease: Lease; readonly sinceMs: number } | undefined;
  /** Until when we lead, on the monotonic clock, counted from before the renewing request. 0: not leading. */
  #leadsUntilMs = 0;
  /** Fires at that time: requests in flight must be aborted, even during a renewal. */
  #expiry: Disposable | undefined;
  #renewing: Promise<void> | undefined;
  /** The attempt in flight: aborted with the lease, so that it does not reach the server later. */
  #attempt: AbortController | undefined;

  constructor({ log = silentLogger, ...options }: LeaderElectorOptions) {
    this.#options = { ...DEFAULT_ELECTION, ...options };
    this.#log = log.with({ lease: `${options.namespace}/${options.name}`, identity: options.identity });
    // Every run and write in flight listens to it; this is not a leak.
    process.getBuiltinModule("node:events").setMaxListeners(0, this.#lost.signal);
    this.#times = electionTimes(this.#options);
  }

  /** The Lease of the election. */
  get lease(): { readonly namespace: string; readonly name: string } {
    const { namespace, name } = this.#options;
    return { namespace, name };
  }

  /** Aborted once this process no longer leads. */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  get isLeading(): boolean {
    return this.#options.clock.monotonic() < this.#leadsUntilMs;
  }

  /** The holder as last seen; for health output. */
  get holder(): string | undefined {
    return this.#seen?.lease.spec?.holderIdentity || undefined;
  }

  /** Allows requests while we lead. */
  readonly fence: Fence = {
    lost: this.#lost.signal,
    check: () => {
      if (this.isLeading) return;
      if (this.#renewing) this.#lose();
      throw new SetpointError(
        "LEASE_LOST",
        `this process (${this.#options.identity}) no longer holds the lease ${this.#options.namespace}/${this.#options.name}`,
      );
    },
  };

  /** Resolves when this process leads; rejects when `signal` is aborted. Retries and logs errors of the server. */
  async acquire(signal: AbortSignal): Promise<void> {
    const { clock, random } = this.#options;
    const { retryMs } = this.#times;
    for (;;) {
      signal.throwIfAborted();
      if (await this.#tryOnce(signal)) break;
      await clock.sleep(jitter(random, retryMs, 1.2), signal);
    }
    this.#log.info("became leader");
    this.#renewing = this.#renewWhileLeading();
  }

  /** Releases the lease. Call it when all guarded work has ended. */
  async release(): Promise<void> {
    this.#stopped.abort();
    await this.#renewing;
    const { client, clock, namespace, name, identity } = this.#options;
    const leadsForMs = this.#leadsUntilMs - clock.monotonic();
    this.#leadsUntilMs = 0;
    this.#expiry?.[Symbol.dispose]();
    if (leadsForMs <= 0) return;
    // Later than this, the request could meet the next leader.
    using deadline = timeoutSignal(clock, leadsForMs);
    const { signal } = deadline;
    for (let tries = 0; tries < 3; tries++) {
      try {
        const lease = await client.find(Lease, name, { namespace, signal });
        if (lease?.spec?.holderIdentity !== identity) return;
        const spec = { ...lease.spec, holderIdentity: "", leaseDurationSeconds: 1, renewTime: this.#now() };
        await client.update(Lease, { ...lease, spec }, { signal });
        this.#log.info("released the lease");
        return;
      } catch (error) {
        if (!isConflict(error)) {
          this.#log.warn("could not release the lease; the next leader must wait until it expires", {
            error: String(error),
          });
          return;
        }
      }
    }
    this.#log.warn(
      "could not release the lease, because others write it too; the next leader must wait until it expires",
    );
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.release();
  }

  async #renewWhileLeading(): Promise<void> {
    const { clock } = this.#options;
    const { retryMs } = this.#times;
    const { signal } = this.#stopped;
    while (!signal.aborted && !this.#lost.signal.aborted) {
      try {
        await clock.sleep(retryMs, signal);
      } catch {
        return;
      }
      const isRenewed = (this.#options.mayRenew?.() ?? true) && (await this.#tryOnce(signal));
      if (!isRenewed && !signal.aborted && (!this.isLeading || this.#isHeldByAnother())) {
        this.#lose();
        return;
      }
    }
  }

  #leadUntil(untilMs: number): void {
    this.#leadsUntilMs = untilMs;
    this.#options.onRenewed?.(untilMs - this.#options.clock.monotonic());
    this.#expiry?.[Symbol.dispose]();
    this.#expiry = this.#options.clock.timer(untilMs - this.#options.clock.monotonic(), () => this.#lose()).unref();
  }

  #lose(): void {
    if (this.#stopped.signal.aborted || this.#lost.signal.aborted) return;
    this.#leadsUntilMs = 0;
    this.#log.error("lost the lease", { holder: this.holder });
    const message = `the lease ${this.#options.namespace}/${this.#options.name} was lost to ${this.holder ?? "nobody yet"}`;
    this.#lost.abort(new SetpointError("LEASE_LOST", message));
    this.#attempt?.abort(this.#lost.signal.reason);
  }

  #isHeldByAnother(): boolean {
    const holder = this.holder;
    return holder !== undefined && holder !== this.#options.identity;
  }

  /** One attempt to take or renew the lease. False if another process holds it, or the server refused. */
  async #tryOnce(signal: AbortSignal): Promise<boolean> {
    const { client, clock, namespace, name } = this.#options;
    const { renewMs } = this.#times;
    const startedMs = clock.monotonic();
    // A dead connection must leave time for another attempt.
    using deadline = clock.timer(renewMs / 2, () =>
      attempt.abort(new SetpointError("TRANSPORT_TIMEOUT", `the lease ${namespace}/${name} got no answer`)),
    );
    const attempt = new AbortController();
    this.#attempt = attempt;
    const onAbort = (): void => attempt.abort(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    try {
      const held =
        this.#seen && this.isLeading
          ? this.#seen.lease
          : await client.find(Lease, name, { namespace, signal: attempt.signal });
      if (held) this.#see(held);
      if (held && !this.#mayTake(held)) return false;
      const written = held
        ? await client.update(Lease, { ...held, spec: this.#claim(held.spec) }, { signal: attempt.signal })
        : await client.create(
            Lease,
            { metadata: { namespace, name }, spec: this.#claim(undefined) },
            { signal: attempt.signal },
          );
      this.#see(written);
      if (this.#lost.signal.aborted) return false;
      this.#leadUntil(startedMs + renewMs);
      return true;
    } catch (error) {
      if (signal.aborted) return false;
      if (isConflict(error) || isAlreadyExists(error)) await this.#look(attempt.signal);
      else this.#log.warn("could not take or renew the lease", { error: String(error) });
      return false;
    } finally {
      signal.removeEventListener("abort", onAbort);
      void deadline;
    }
  }

  /** Another client wrote or deleted the lease: read it again, so that the next attempt starts from there. */
  async #look(signal: AbortSignal): Promise<void> {
    const { client, namespace, name } = this.#options;
    try {
      const lease = await client.find(Lease, name, { namespace, signal });
      if (lease) this.#see(lease);
      else this.#seen = undefined;
    } catch (error) {
      this.#log.warn("could not read the lease", { error: String(error) });
    }
  }

  #see(lease: Lease): void {
    const isSame = this.#seen?.lease.metadata.resourceVersion === lease.metadata.resourceVersion;
    if (!isSame) this.#seen = { lease, sinceMs: this.#options.clock.monotonic() };
  }

  #mayTake({ spec }: Lease): boolean {
    const { clock, identity } = this.#options;
    const { leaseMs } = this.#times;
    if (!spec?.holderIdentity || spec.holderIdentity === identity) return true;
    const durationMs = spec.leaseDurationSeconds === undefined ? leaseMs : spec.leaseDurationSeconds * 1000;
    return clock.monotonic() >= (this.#seen?.sinceMs ?? Number.POSITIVE_INFINITY) + durationMs;
  }

  #claim(before: LeaseSpec | undefined): LeaseSpec {
    const { identity } = this.#options;
    const { leaseMs } = this.#times;
    const isOurs = before?.holderIdentity === identity;
    const now = this.#now();
    return {
      ...before,
      holderIdentity: identity,
      leaseDurationSeconds: Math.ceil(leaseMs / 1000),
      renewTime: now,
      acquireTime: isOurs ? (before.acquireTime ?? now) : now,
      leaseTransitions: (before?.leaseTransitions ?? 0) + (isOurs || before === undefined ? 0 : 1),
    };
  }

  #now(): string {
    return formatMicroTime(this.#options.clock.now());
  }
}
