import { tooManyRequests } from "../api/status-error.js";

/** What callers may have under way at once. */
export interface FlowLimitOptions {
  /** Requests of all flows together. */
  readonly requests: number;
  /** Requests of one flow. */
  readonly requestsPerFlow: number;
  /** As many each flow may always have, so that others cannot take all. */
  readonly requestsGuaranteed: number;
  /** Bytes of bodies and answers that are under way, of all flows together. */
  readonly bodyBytes: number;
  /** The same of one flow. */
  readonly bodyBytesPerFlow: number;
}

const MIB = 2 ** 20;

/** The total of the real server's two defaults (400 reads and 200 writes); the rest is chosen for one process. */
export const DEFAULT_FLOW_LIMITS: FlowLimitOptions = {
  requests: 600,
  requestsPerFlow: 100,
  requestsGuaranteed: 8,
  bodyBytes: 96 * MIB,
  bodyBytesPerFlow: 24 * MIB,
};

/** What one flow has under way. A flow is one user, or all service accounts of one namespace. */
export interface Flow {
  readonly name: string;
  requests: number;
  bytes: number;
}

/**
 * Counts what each flow has under way and refuses what is too much with 429. No flow can keep another out: each may have a
 * few requests and one body, whatever the others have.
 */
export class FlowLimits {
  readonly #options: FlowLimitOptions;
  /** Those that have something under way. */
  readonly #flows = new Map<string, Flow>();
  #requests = 0;
  #bytes = 0;
  #rejected = 0;

  constructor(options: Partial<FlowLimitOptions> = {}) {
    this.#options = { ...DEFAULT_FLOW_LIMITS, ...options };
  }

  /** How many requests were refused so far. */
  get rejected(): number {
    return this.#rejected;
  }

  get inFlight(): number {
    return this.#requests;
  }

  /** Begins a request. Throws 429 where the flow, or all flows together, have too many. */
  enter(name: string): Flow {
    const flow = this.#flows.get(name) ?? { name, requests: 0, bytes: 0 };
    const { requests, requestsPerFlow, requestsGuaranteed, bodyBytesPerFlow } = this.#options;
    const isFull = this.#requests >= requests && flow.requests >= requestsGuaranteed;
    const isOver = flow.requests >= requestsPerFlow || flow.bytes > bodyBytesPerFlow;
    if (isFull || isOver) throw this.#refusal();
    if (flow.requests++ === 0) this.#flows.set(name, flow);
    this.#requests++;
    return flow;
  }

  /** Ends a request that {@link enter} began, and frees the bytes that it had reserved. */
  leave(flow: Flow, bytes = 0): void {
    this.#requests--;
    flow.bytes -= bytes;
    this.#bytes -= bytes;
    if (--flow.requests === 0) this.#flows.delete(flow.name);
  }

  /** Reserves room for more of a body. Throws 429, and reserves nothing, where there is none. */
  reserve(flow: Flow, bytes: number): void {
    const { bodyBytes, bodyBytesPerFlow } = this.#options;
    const isFull = this.#bytes + bytes > bodyBytes && flow.bytes > 0;
    if (isFull || (flow.bytes + bytes > bodyBytesPerFlow && flow.bytes > 0)) throw this.#refusal();
    flow.bytes += bytes;
    this.#bytes += bytes;
  }

  /** Counts bytes that are there already, as those of an answer that waits for its reader. */
  charge(flow: Flow, bytes: number): void {
    flow.bytes += bytes;
    this.#bytes += bytes;
  }

  #refusal(): Error {
    this.#rejected++;
    return tooManyRequests("Too many requests, please try again later.", 1);
  }
}
