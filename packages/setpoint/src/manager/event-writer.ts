import { isNotFound } from "../client/api-error.js";
import type { Client } from "../client/client.js";
import type { Clock } from "../clock/clock.js";
import type { Random } from "../clock/random.js";
import type { EventRecorder, ObjectEvent } from "../controller/event-recorder.js";
import { type Fence, openFence } from "../controller/fence.js";
import { type Logger, silentLogger } from "../controller/logger.js";
import { isSetpointError } from "../errors/error.js";
import { Event } from "../kinds/builtin/v1.js";
import { formatTime } from "../kinds/time.js";
import { type CorrelatedEvent, EventCorrelator } from "./event-correlator.js";

/** Events that wait to be written; more are dropped and counted. */
const MAX_WAITING = 1_000;
/** Tries where the server cannot be reached, and the pause between them. */
const MAX_TRIES = 12;
const RETRY_MS = 10_000;
/** The longest name of an object. */
const MAX_NAME = 253;
/** How long after a stop events may still be written. */
const STOP_MS = 2_000;

export interface EventWriterOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  /** Who reports: the app's or the manager's name. */
  readonly component: string;
  readonly log?: Logger;
  /** Nothing is written once it is closed: another process tells of the objects then. Open where left out. */
  readonly fence?: Fence;
}

/**
 * Writes events to the API server beside the work that they tell of: recording one never waits and never fails. The
 * values of Secrets must not be in a message; Setpoint's own messages never contain them.
 */
export class EventWriter implements EventRecorder, AsyncDisposable {
  readonly #options: EventWriterOptions;
  readonly #log: Logger;
  readonly #correlator = new EventCorrelator();
  /** By series: the name of the event that was written for it. */
  readonly #written = new Map<string, { readonly namespace: string; readonly name: string }>();
  readonly #stop = new AbortController();
  #waiting: Promise<void> = Promise.resolve();
  #pending = 0;
  #lost = 0;

  constructor(options: EventWriterOptions) {
    this.#options = options;
    this.#log = options.log ?? silentLogger;
    options.fence?.lost?.addEventListener("abort", () => this.#stop.abort(), { once: true });
  }

  /** Events that never reached the server. */
  get dropped(): number {
    return this.#correlator.dropped + this.#lost;
  }

  record(event: ObjectEvent): void {
    if (this.#stop.signal.aborted || this.#pending >= MAX_WAITING) {
      this.#lost++;
      return;
    }
    const nowMs = this.#options.clock.now();
    const correlated = this.#correlator.correlate(event, nowMs);
    if (!correlated) return;
    this.#pending++;
    this.#waiting = this.#waiting.then(() => this.#write(event, correlated, nowMs)).finally(() => void this.#pending--);
  }

  /** Resolves when everything recorded so far is written or given up. */
  async flush(): Promise<void> {
    await this.#waiting;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    using _limit = this.#options.clock.timer(STOP_MS, () => this.#stop.abort());
    await this.#waiting;
    this.#stop.abort();
  }

  async #write(event: ObjectEvent, correlated: CorrelatedEvent, nowMs: number): Promise<void> {
    const { clock } = this.#options;
    const { signal } = this.#stop;
    for (let tries = 1; !signal.aborted; tries++) {
      try {
        await this.#send(event, correlated, nowMs);
        return;
      } catch (error) {
        const isUnreachable = isSetpointError(error) && error.code.startsWith("TRANSPORT_");
        if (!isUnreachable || tries >= MAX_TRIES) {
          this.#lost++;
          this.#log.warn("an event was not written", { reason: event.reason, error: String(error) });
          return;
        }
        await clock.sleep(RETRY_MS, signal).catch(() => {});
      }
    }
    this.#lost++;
  }

  async #send(event: ObjectEvent, correlated: CorrelatedEvent, nowMs: number): Promise<void> {
    const { client, fence = openFence } = this.#options;
    const { signal } = this.#stop;
    fence.check();
    const known = this.#written.get(correlated.series);
    const lastTimestamp = formatTime(nowMs);
    if (known && correlated.count > 1) {
      const body = { count: correlated.count, lastTimestamp, message: correlated.message };
      try {
        await client.patch(Event, known.name, { type: "merge", body }, { namespace: known.namespace, signal });
        return;
      } catch (error) {
        if (!isNotFound(error)) throw error;
        this.#correlator.forget(correlated.series);
      }
    }
    const { metadata, apiVersion, kind } = event.object;
    // Events of cluster-scoped objects live in the namespace `default`, where kubectl looks for them.
    const namespace = metadata.namespace || "default";
    const { uid, name, resourceVersion } = metadata;
    const eventName = this.#nameFor(name);
    await client.create(
      Event,
      {
        metadata: { namespace, name: eventName },
        involvedObject: { apiVersion, kind, name, uid, resourceVersion, ...(metadata.namespace ? { namespace } : {}) },
        type: event.type,
        reason: event.reason,
        message: correlated.message,
        count: correlated.count,
        firstTimestamp: formatTime(correlated.firstMs),
        lastTimestamp,
        source: { component: this.#options.component },
        reportingComponent: this.#options.component,
        reportingInstance: "",
      },
      { signal },
    );
    this.#written.set(correlated.series, { namespace, name: eventName });
    if (this.#written.size > MAX_WAITING * 4) this.#written.delete(this.#written.keys().next().value!);
  }

  /** The object's name and a random end. Names of roles may have more letters than events', and others be too long. */
  #nameFor(object: string): string {
    const suffix = Buffer.from(this.#options.random.bytes(8)).toString("hex");
    const plain = object.toLowerCase().replaceAll(/[^a-z0-9.-]/g, "-");
    return `${plain.slice(0, MAX_NAME - suffix.length - 1).replace(/[.-]+$/, "")}.${suffix}`;
  }
}
