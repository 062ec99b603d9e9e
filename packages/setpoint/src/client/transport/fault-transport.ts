import { Buffer } from "node:buffer";
import type { Clock } from "../../clock/clock.js";
import { type Duration, parseDuration } from "../../clock/duration.js";
import type { Random } from "../../clock/random.js";
import { type BodyFault, FaultyBody } from "./faulty-body.js";
import type { Transport, TransportRequest, TransportResponse } from "./transport.js";
import { abortedError, transportError } from "./transport-error.js";

/** Faults before the body. */
type RequestFault =
  /** No connection; the server sees nothing. */
  | { readonly type: "refuse" }
  /** The connection breaks before the response headers; with `afterSend` the server has acted. */
  | { readonly type: "reset"; readonly afterSend?: boolean }
  /** A response instead of the server's, which sees nothing. Text is sent as HTML, anything else as JSON. */
  | { readonly type: "respond"; readonly status: number; readonly body?: unknown; readonly retryAfterSeconds?: number }
  /** Waits before sending, or before passing the answer on: so that requests and answers overtake each other. */
  | { readonly type: "delay"; readonly before?: Duration; readonly after?: Duration };

/** Faults within the body, after `afterBytes` of it. */
type ResponseFault =
  | Exclude<BodyFault, { type: "append" }>
  /** The body comes in pieces of this size, which splits characters and lines. */
  | { readonly type: "fragment"; readonly bytes: number }
  /** At the next end of a line, a watch's ERROR event and the end of the stream. */
  | { readonly type: "error-event"; readonly afterBytes: number; readonly status: number; readonly reason?: string };

/** A fault of one request. */
export type Fault = RequestFault | ResponseFault;

/** Called for each request, counted from 0. */
export type FaultPlan = (request: TransportRequest, index: number) => Fault | readonly Fault[] | undefined;

/**
 * A transport that injects faults, and waits on `clock`. The plan decides for each request: a function, or
 * {@link scriptedFaults} and {@link randomFaults}.
 *
 * ```ts
 * const transport = faultTransport(inner, scriptedFaults([{ type: "refuse" }, { type: "cut", afterBytes: 100 }]), clock);
 * ```
 */
export function faultTransport(inner: Transport, plan: FaultPlan, clock: Clock): Transport {
  let index = 0;
  return {
    request: (request) => {
      const planned = plan(request, index++) ?? [];
      return requestWith(inner, request, "type" in planned ? [planned] : planned, clock);
    },
    [Symbol.asyncDispose]: () => inner[Symbol.asyncDispose](),
  };
}

/** The n-th fault for the n-th request (undefined for none); counts only requests that match, if given. */
export function scriptedFaults(
  faults: readonly (Fault | readonly Fault[] | undefined)[],
  matches: (request: TransportRequest) => boolean = () => true,
): FaultPlan {
  let next = 0;
  return (request) => (matches(request) ? faults[next++] : undefined);
}

/** Each request gets one of the faults with the given probability. The same seed gives the same faults. */
export function randomFaults(
  random: Random,
  probability: number,
  faults: readonly ((random: Random) => Fault | readonly Fault[])[],
  matches: (request: TransportRequest) => boolean = () => true,
): FaultPlan {
  return (request) => {
    if (!matches(request) || random.next() >= probability) return undefined;
    return faults[Math.floor(random.next() * faults.length)]!(random);
  };
}

async function requestWith(
  inner: Transport,
  request: TransportRequest,
  faults: readonly Fault[],
  clock: Clock,
): Promise<TransportResponse> {
  const { signal } = request;
  if (signal?.aborted) throw abortedError(signal);
  const bodyFaults: ResponseFault[] = [];
  let afterMs = 0;
  let resetAfterSend = false;
  for (const fault of faults) {
    switch (fault.type) {
      case "refuse":
        throw transportError("TRANSPORT_REFUSED", "injected: connection refused");
      case "reset":
        if (!fault.afterSend) throw transportError("TRANSPORT_BROKEN", "injected: connection reset");
        resetAfterSend = true;
        break;
      case "respond":
        return answer(fault);
      case "delay":
        if (fault.before) await pause(clock, parseDuration(fault.before, "before"), signal);
        afterMs += parseDuration(fault.after ?? 0, "after");
        break;
      default:
        bodyFaults.push(fault);
    }
  }
  const response = await inner.request(request);
  if (resetAfterSend) {
    await response.body[Symbol.asyncIterator]().return?.();
    throw transportError("TRANSPORT_BROKEN", "injected: connection reset after the request was sent");
  }
  if (afterMs > 0) await pause(clock, afterMs, signal);
  let { body } = response;
  for (const fault of bodyFaults) body = bodyWith(body, fault, clock, signal);
  return { ...response, body };
}

function answer(fault: Extract<Fault, { type: "respond" }>): TransportResponse {
  const { status, retryAfterSeconds } = fault;
  const body = fault.body ?? statusBody(status, undefined, retryAfterSeconds);
  const isText = typeof body === "string";
  return {
    status,
    headers: {
      "content-type": isText ? "text/html" : "application/json",
      ...(retryAfterSeconds === undefined ? {} : { "retry-after": String(retryAfterSeconds) }),
    },
    body: once(Buffer.from(isText ? body : JSON.stringify(body))),
  };
}

const REASONS: Readonly<Record<number, string>> = {
  404: "NotFound",
  409: "Conflict",
  410: "Expired",
  429: "TooManyRequests",
  500: "InternalError",
  503: "ServiceUnavailable",
  504: "Timeout",
};

function statusBody(status: number, reason = REASONS[status] ?? "Unknown", retryAfterSeconds?: number): object {
  return {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message: `injected: ${reason}`,
    reason,
    code: status,
    ...(retryAfterSeconds === undefined ? {} : { details: { retryAfterSeconds } }),
  };
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array, void> {
  yield bytes;
}

function bodyWith(
  body: AsyncIterable<Uint8Array>,
  fault: ResponseFault,
  clock: Clock,
  signal: AbortSignal | undefined,
): AsyncIterable<Uint8Array> {
  switch (fault.type) {
    case "fragment":
      return fragments(body, fault.bytes);
    case "error-event": {
      const event = { type: "ERROR", object: statusBody(fault.status, fault.reason) };
      const bytes = Buffer.from(`${JSON.stringify(event)}\n`);
      return new FaultyBody(body, { type: "append", afterBytes: fault.afterBytes, bytes }, clock, signal);
    }
    default:
      return new FaultyBody(body, fault, clock, signal);
  }
}

async function* fragments(body: AsyncIterable<Uint8Array>, size: number): AsyncGenerator<Uint8Array, void> {
  for await (const chunk of body) {
    for (let at = 0; at < chunk.length; at += size) yield chunk.subarray(at, at + size);
  }
}

async function pause(clock: Clock, ms: number, signal: AbortSignal | undefined): Promise<void> {
  try {
    await clock.sleep(ms, signal);
  } catch (error) {
    throw signal?.aborted ? abortedError(signal) : error;
  }
}
