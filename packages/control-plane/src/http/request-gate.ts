import type { RequestHead } from "../api/api-request.js";
import type { UserInfo } from "../api/user.js";
import { type Flow, FlowLimits } from "./flow-limits.js";

export interface RequestGateOptions {
  /** Who makes a request. Throws 401 and 403. */
  readonly authenticate: (head: RequestHead) => UserInfo;
  /** Throws 403 where the user may not do what the head asks for. */
  readonly authorize: (head: RequestHead, user: UserInfo) => void;
  /** Whose limits count for a user; undefined for those without any. */
  readonly flowOf: (user: UserInfo) => string | undefined;
  readonly limits?: FlowLimits;
}

/** What every request over a socket passes before its body is read: who makes it, whether they may, and how many they have. */
export class RequestGate {
  readonly #options: RequestGateOptions;
  readonly limits: FlowLimits;

  constructor(options: RequestGateOptions) {
    this.#options = options;
    this.limits = options.limits ?? new FlowLimits();
  }

  /** Lets a request in. Throws 401, 403 for a forbidden impersonation, and 429. */
  enter(head: RequestHead): Permit {
    const user = this.#options.authenticate(head);
    const flow = this.#options.flowOf(user);
    return new Permit(user, this.limits, flow === undefined ? undefined : this.limits.enter(flow));
  }

  /** Throws 403. What comes in with its whole body in memory is authorized by its endpoint alone. */
  authorize(head: RequestHead, { user }: Permit): void {
    this.#options.authorize(head, user);
  }
}

/** A request that was let in; what it reserved is free again once it is released. */
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

  /** Reserves room for a part of the body. Throws 429. */
  reserve(bytes: number): void {
    if (this.#flow === undefined) return;
    this.#limits.reserve(this.#flow, bytes);
    this.#bytes += bytes;
  }

  /** Counts bytes of an answer until its reader has taken them. */
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
