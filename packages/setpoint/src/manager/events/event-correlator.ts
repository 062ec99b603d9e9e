import type { ObjectEvent } from "../../controller/event-recorder.js";

/** Distinct messages of one reason within the window before they are aggregated. */
const AGGREGATE_AFTER = 10;
const AGGREGATE_WINDOW_MS = 600_000;
/** Per object and reason: this many writes at once, then one per refill. */
const BURST = 25;
const REFILL_MS = 300_000;
/** How many series to remember; the oldest are forgotten first, with their counts. */
export const MAX_SERIES = 16_384;

/** What to write for an event: a new one, or one more of an existing series. */
export interface CorrelatedEvent {
  readonly series: string;
  readonly message: string;
  readonly count: number;
  readonly firstMs: number;
  /** The first event of its reason on the object, as far as remembered. */
  readonly isFirst: boolean;
}

interface Series {
  readonly firstMs: number;
  count: number;
}

interface Reason {
  /** Distinct messages, until they are aggregated. */
  readonly messages: Set<string>;
  lastMs: number;
  tokens: number;
  refilledMs: number;
}

/**
 * Decides what to do with events: identical ones are counted, many similar ones are aggregated, and a flood of one
 * reason is thinned out. Every key includes the reason, so that one reason never hides another, and the first event of
 * a reason is never dropped. Pure: no I/O, the caller passes the time.
 */
export class EventCorrelator {
  readonly #series = new Map<string, Series>();
  readonly #reasons = new Map<string, Reason>();
  #dropped = 0;

  /** Events that were not written, since the start. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Undefined if there are too many events of its reason. */
  correlate(event: ObjectEvent, nowMs: number): CorrelatedEvent | undefined {
    const reasonKey = [
      event.object.metadata.uid,
      event.object.kind,
      event.object.metadata.name,
      event.type,
      event.reason,
    ].join("\n");
    const isFirst = !this.#reasons.has(reasonKey);
    const reason = this.#reasonOf(reasonKey, nowMs);
    if (reason.messages.size < AGGREGATE_AFTER) reason.messages.add(event.message);
    const isAggregate = reason.messages.size >= AGGREGATE_AFTER;
    const message = isAggregate ? `(combined from similar events): ${event.message}` : event.message;
    const key = isAggregate ? reasonKey : `${reasonKey}\n${event.message}`;
    if (!this.#take(reason, nowMs)) {
      this.#dropped++;
      return undefined;
    }
    const series = this.#series.get(key) ?? { firstMs: nowMs, count: 0 };
    series.count++;
    remember(this.#series, key, series);
    return { series: key, message, count: series.count, firstMs: series.firstMs, isFirst };
  }

  #reasonOf(key: string, nowMs: number): Reason {
    const known = this.#reasons.get(key);
    const isFresh = known !== undefined && nowMs - known.lastMs <= AGGREGATE_WINDOW_MS;
    const reason = isFresh
      ? known
      : {
          messages: new Set<string>(),
          lastMs: nowMs,
          tokens: known?.tokens ?? BURST,
          refilledMs: known?.refilledMs ?? nowMs,
        };
    reason.lastMs = nowMs;
    remember(this.#reasons, key, reason);
    return reason;
  }

  #take(reason: Reason, nowMs: number): boolean {
    const refills = Math.floor((nowMs - reason.refilledMs) / REFILL_MS);
    if (refills > 0) {
      reason.tokens = Math.min(BURST, reason.tokens + refills);
      reason.refilledMs += refills * REFILL_MS;
    }
    if (reason.tokens === 0) return false;
    reason.tokens--;
    return true;
  }
}

/** Sets an entry as the newest, and forgets the oldest beyond the limit. */
function remember<Value>(map: Map<string, Value>, key: string, value: Value): void {
  map.delete(key);
  map.set(key, value);
  if (map.size <= MAX_SERIES) return;
  const oldest = map.keys().next();
  if (!oldest.done) map.delete(oldest.value);
}
