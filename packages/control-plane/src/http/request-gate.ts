import type { RequestHead } from "../api/api-request.js";
import type { UserInfo } from "../api/user.js";
import { type Flow, FlowLimits } from "./flow-limits.js";

export interface RequestGateOptions {
  /** Authenticates a request. Throws 401 and 403. */
  readonly authenticate: (head: RequestHead) => UserInfo;
  /** Throws 403 unless the user may do what the head asks. */
  readonly authorize: (head: RequestHead, user: UserInfo) => void;
  /** The flow whose limits apply to a user; undefined for no limits. */
  readonly flowOf: (user: UserInfo) => string | undefined;
  readonly limits?: FlowLimits;
}

/** Authenticates, authorizes and limits requests over a socket before their body is read. */
export class RequestGate {
  readonly #options: RequestGateOptions;
  readonly limits: FlowLimits;

  constructor(options: RequestGateOptions) {
    this.#options = options;
    this.limits = options.limits ?? new FlowLimits();
  }

  /** Admits a request. Throws 401, 403 for a forbidden impersonation, and 429. */
  enter(head: RequestHead): Permit {
    const user = this.#options.authenticate(head);
    const flow = this.#options.flowOf(user);
    return new Permit(user, this.limits, flow === undefined ? undefined : this.limits.enter(flow));
  }

  /** Throws 403. Not called for requests whose body is already in memory; their endpoint authorizes them. */
  authorize(head: RequestHead, { user }: Permit): void {
    this.#options.authorize(head, user);
  }
}

/** An admitted request. Its release frees what it reserved. */
export class Permit {
  readonly user: UserInfo;
  readonly #limits: FlowLimits;
  /** Undefined for a user without limits, and after the release. */
  #flow: Flow | undefined;
  readonly #name: string | undefined;
  #bytes = 0;

  constructor(user: UserInfo, limits: FlowLimits, flow: Flow | undefined) {
    this.user = user;
    this.#limits = limits;
    this.#flow = flow;
    this.#name = flow?.name;
  }

  /** The name of its flow; undefined for a user without limits. */
  get flow(): string | undefined {
    return this.#name;
  }

  /** Reserves bytes for a part of the body. Throws 429. */
  reserve(bytes: number): void {
    if (this.#flow === undefined) return;
    this.#limits.reserve(this.#flow, bytes);
    this.#bytes += bytes;
  }

  /** Counts bytes of a response until its reader has taken them. */
  charge(bytes: number): void {
    if (this.#flow === undefined) return;
    this.#limits.charge(this.#flow, bytes);
    this.#bytes += bytes;
  }

  /** Idempotent. */
  release(): void {
    if (this.#flow !== undefined) this.#limits.leave(this.#flow, this.#bytes);
    this.#flow = undefined;
  }
}
