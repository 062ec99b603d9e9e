import { tooManyRequests } from "../api/status-error.js";

/** Limits on concurrent requests and body bytes. */
export interface FlowLimitOptions {
  /** Requests of all flows. */
  readonly requests: number;
  /** Requests of one flow. */
  readonly requestsPerFlow: number;
  /** Requests that each flow may always have, so that other flows cannot take all. */
  readonly requestsGuaranteed: number;
  /** Bytes of bodies and responses in flight, of all flows. */
  readonly bodyBytes: number;
  /** Bytes of bodies and responses in flight, of one flow. */
  readonly bodyBytesPerFlow: number;
}

const MIB = 2 ** 20;

/** `requests` is the sum of the real server's defaults (400 reads, 200 writes). The rest suits a single process. */
export const DEFAULT_FLOW_LIMITS: FlowLimitOptions = {
  requests: 600,
  requestsPerFlow: 100,
  requestsGuaranteed: 8,
  bodyBytes: 96 * MIB,
  bodyBytesPerFlow: 24 * MIB,
};

/** The usage of one flow. A flow is one user, or all service accounts of one namespace. */
export interface Flow {
  readonly name: string;
  requests: number;
  bytes: number;
}

/**
 * Counts the usage of each flow and rejects excess with 429. No flow can starve another: each may always have a few
 * requests and one body.
 */
export class FlowLimits {
  readonly #options: FlowLimitOptions;
  /** Flows with requests in flight. */
  readonly #flows = new Map<string, Flow>();
  #requests = 0;
  #bytes = 0;
  #rejected = 0;

  constructor(options: Partial<FlowLimitOptions> = {}) {
    this.#options = { ...DEFAULT_FLOW_LIMITS, ...options };
  }

  /** Number of rejected requests so far. */
  get rejected(): number {
    return this.#rejected;
  }

  get inFlight(): number {
    return this.#requests;
  }

  /** Begins a request. Throws 429 if the flow, or all flows together, have too many. */
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

  /** Ends a request that {@link enter} began, and frees its reserved bytes. */
  leave(flow: Flow, bytes = 0): void {
    this.#requests--;
    flow.bytes -= bytes;
    this.#bytes -= bytes;
    if (--flow.requests === 0) this.#flows.delete(flow.name);
  }

  /** Reserves bytes for a body. Throws 429 and reserves nothing if there is no room. */
  reserve(flow: Flow, bytes: number): void {
    const { bodyBytes, bodyBytesPerFlow } = this.#options;
    const isFull = this.#bytes + bytes > bodyBytes && flow.bytes > 0;
    if (isFull || (flow.bytes + bytes > bodyBytesPerFlow && flow.bytes > 0)) throw this.#refusal();
    flow.bytes += bytes;
    this.#bytes += bytes;
  }

  /** Counts bytes already in memory, such as a response that waits for its reader. */
  charge(flow: Flow, bytes: number): void {
    flow.bytes += bytes;
    this.#bytes += bytes;
  }

  #refusal(): Error {
    this.#rejected++;
    return tooManyRequests("Too many requests, please try again later.", 1);
  }
}
