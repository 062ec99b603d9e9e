import type { Rest, Ticket } from "./graph-editor.js";
import type { Key } from "./resource.js";

/** The ticket of one edit, while a caller may wait for it. */
export class OpenTicket {
  readonly ticket: Ticket;
  /** The nodes that have not come to rest, and where their results go. */
  readonly #open = new Map<Key, number>();
  readonly #rests: Rest[] = [];
  #resolve!: (rests: readonly Rest[]) => void;
  #accept!: () => void;
  #reject!: (error: unknown) => void;

  constructor() {
    const rested = new Promise<readonly Rest[]>((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    const accepted = new Promise<void>((resolve, reject) => {
      this.#accept = resolve;
      rested.catch(reject);
    });
    accepted.catch(() => {}); // callers need not await it
    this.ticket = Object.assign(rested, { accepted });
  }

  get ids(): readonly Key[] {
    return [...this.#open.keys()];
  }

  waitFor(ids: readonly Key[]): void {
    for (const [at, id] of ids.entries()) this.#open.set(id, at);
  }

  accept(): void {
    this.#accept();
    if (this.#open.size === 0) this.#resolve(this.#rests);
  }

  move(from: Key, to: Key): void {
    const at = this.#open.get(from);
    this.#open.delete(from);
    if (at !== undefined) this.#open.set(to, at);
  }

  rest(id: Key, rest: Rest): void {
    const at = this.#open.get(id);
    if (at === undefined) return;
    this.#rests[at] = rest;
    this.#open.delete(id);
    if (this.#open.size === 0) this.#resolve(this.#rests);
  }

  reject(error: unknown): void {
    this.#reject(error);
  }
}

/** Tickets by the node that they wait for. */
export class TicketBoard {
  readonly #byId = new Map<Key, Set<OpenTicket>>();

  add(ticket: OpenTicket): void {
    for (const id of ticket.ids) this.#of(id).add(ticket);
  }

  /** All at once: nodes may have exchanged their ids. */
  move(moves: readonly { readonly from: Key; readonly to: Key }[]): void {
    const taken = moves.map(({ from, to }) => {
      const tickets = this.#byId.get(from) ?? new Set();
      this.#byId.delete(from);
      return { from, to, tickets };
    });
    for (const { from, to, tickets } of taken) {
      for (const ticket of tickets) {
        ticket.move(from, to);
        this.#of(to).add(ticket);
      }
    }
  }

  rest(id: Key, rest: () => Rest): void {
    const tickets = this.#byId.get(id);
    this.#byId.delete(id);
    for (const ticket of tickets ?? []) ticket.rest(id, rest());
  }

  reject(error: unknown): void {
    for (const tickets of this.#byId.values()) for (const ticket of tickets) ticket.reject(error);
    this.#byId.clear();
  }

  #of(id: Key): Set<OpenTicket> {
    const tickets = this.#byId.get(id) ?? new Set();
    this.#byId.set(id, tickets);
    return tickets;
  }
}
