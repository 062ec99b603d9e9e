import { isNotFound } from "../../client/api-error.js";
import type { Client } from "../../client/client.js";
import type { Clock } from "../../clock/clock.js";
import type { Random } from "../../clock/random.js";
import type { EventRecorder, ObjectEvent } from "../../controller/event-recorder.js";
import { isSetpointError } from "../../errors/error.js";
import { Event } from "../../kinds/builtin/v1.js";
import { formatTime } from "../../kinds/time.js";
import { type Fence, openFence } from "../../loop/fence.js";
import { type Logger, silentLogger } from "../../loop/logger.js";
import { EventLine, type WaitingEvent } from "../log/event-line.js";
import { type CorrelatedEvent, EventCorrelator, MAX_SERIES } from "./event-correlator.js";

/** How many events to write at once. Sequentially, events of many objects would be minutes late. */
const WRITERS = 4;
/** How often to try if the server is unreachable, and the pause in between. */
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
  /** The reporting component: the name of the app or the manager. */
  readonly component: string;
  readonly log?: Logger;
  /** Nothing is written once it is closed: another process reports events then. Defaults to open. */
  readonly fence?: Fence;
}

/**
 * Writes events to the API server in the background: recording one never waits and never fails. Events of one object
 * are written in order. The first of a reason is never dropped for lack of space, only if the server is unreachable for
 * minutes, or refuses it. Messages must not contain values of Secrets; Setpoint's own never do.
 */
export class EventWriter implements EventRecorder, AsyncDisposable {
  readonly #options: EventWriterOptions;
  readonly #log: Logger;
  readonly #correlator = new EventCorrelator();
  /** By series: the name of its written event. */
  readonly #written = new Map<string, { readonly namespace: string; readonly name: string }>();
  readonly #line = new EventLine();
  readonly #writers = new Set<Promise<void>>();
  readonly #stop = new AbortController();
  #lost = 0;

  constructor(options: EventWriterOptions) {
    this.#options = options;
    this.#log = options.log ?? silentLogger;
    const lost = options.fence?.lost;
    lost?.addEventListener("abort", () => this.#stop.abort(lost.reason), { once: true });
  }

  /** Events that never reached the server. */
  get dropped(): number {
    return this.#correlator.dropped + this.#line.dropped + this.#lost;
  }

  record(event: ObjectEvent): void {
    if (this.#stop.signal.aborted) {
      this.#lost++;
      return;
    }
    const nowMs = this.#options.clock.now();
    const correlated = this.#correlator.correlate(event, nowMs);
    if (!correlated) return;
    this.#line.add(waiting(event, correlated, nowMs));
    if (this.#writers.size >= WRITERS) return;
    const writer: Promise<void> = this.#work().finally(() => this.#writers.delete(writer));
    this.#writers.add(writer);
  }

  /** Resolves when everything recorded so far is written or given up. */
  async flush(): Promise<void> {
    while (this.#writers.size > 0) await Promise.all(this.#writers);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    using _limit = this.#options.clock.timer(STOP_MS, () => this.#stop.abort());
    await this.flush();
    this.#stop.abort();
  }

  async #work(): Promise<void> {
    // A caller that records an event does not wait for the write.
    await undefined;
    for (let event = this.#line.take(); event; event = this.#line.take()) {
      await this.#write(event);
      this.#line.done(event);
    }
  }

  async #write(event: WaitingEvent): Promise<void> {
    const { clock } = this.#options;
    const { signal } = this.#stop;
    for (let tries = 1; !signal.aborted; tries++) {
      try {
        await this.#send(event);
        return;
      } catch (error) {
        const isUnreachable = isSetpointError(error) && error.code.startsWith("TRANSPORT_");
        if (!isUnreachable || tries >= MAX_TRIES) {
          this.#lost++;
          this.#log.warn("could not write an event", { reason: event.reason, error: String(error) });
          return;
        }
        await clock.sleep(RETRY_MS, signal).catch(() => {});
      }
    }
    this.#lost++;
  }

  async #send(event: WaitingEvent): Promise<void> {
    const { client, fence = openFence } = this.#options;
    const { signal } = this.#stop;
    fence.check();
    const { series, count, message, object } = event;
    const known = this.#written.get(series);
    const lastTimestamp = formatTime(event.lastMs);
    if (known && count > 1) {
      const body = { count, lastTimestamp, message };
      try {
        await client.patch(Event, known.name, { type: "merge", body }, { namespace: known.namespace, signal });
        return;
      } catch (error) {
        // Events expire: create this one again, with the count of its series.
        if (!isNotFound(error)) throw error;
      }
    }
    // Events of cluster-scoped objects are in the namespace `default`, where kubectl looks for them.
    const namespace = object.namespace || "default";
    const name = this.#nameFor(object.name);
    await client.create(
      Event,
      {
        metadata: { namespace, name },
        involvedObject: object,
        type: event.type,
        reason: event.reason,
        message,
        count,
        firstTimestamp: formatTime(event.firstMs),
        lastTimestamp,
        source: { component: this.#options.component },
        reportingComponent: this.#options.component,
        reportingInstance: "",
      },
      { signal },
    );
    this.#written.set(series, { namespace, name });
    if (this.#written.size > MAX_SERIES) this.#written.delete(this.#written.keys().next().value!);
  }

  /**
   * The object's name with a random suffix. Role names may have characters that event names may not, and names may be
   * too long.
   */
  #nameFor(object: string): string {
    const suffix = Buffer.from(this.#options.random.bytes(8)).toString("hex");
    const plain = object.toLowerCase().replaceAll(/[^a-z0-9.-]/g, "-");
    return `${plain.slice(0, MAX_NAME - suffix.length - 1).replace(/[.-]+$/, "")}.${suffix}`;
  }
}

/** The parts of an event that the write needs, without the object, which may be large. */
function waiting({ object, type, reason }: ObjectEvent, correlated: CorrelatedEvent, lastMs: number): WaitingEvent {
  const { apiVersion, kind, metadata } = object;
  const { namespace, name, uid, resourceVersion } = metadata;
  const reference = { apiVersion, kind, name, uid, resourceVersion, ...(namespace ? { namespace } : {}) };
  return { ...correlated, object: reference, type, reason, lastMs };
}
