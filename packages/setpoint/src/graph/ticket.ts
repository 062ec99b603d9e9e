import type { Rest, Ticket } from "./graph-editor.js";
import { Places } from "./places.js";
import type { Key } from "./resource.js";
import type { Move } from "./state.js";

/** The ticket of one edit, while a caller may wait for it. */
export class OpenTicket {
  readonly ticket: Ticket;
  /** The nodes that are not at rest yet, with the positions of their results. */
  readonly #open = new Places();
  readonly #rests: Rest[] = [];
  #isAccepted = false;
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
    return this.#open.left;
  }

  waitFor(ids: readonly Key[]): void {
    for (const id of ids) this.#open.add(id);
  }

  accept(): void {
    this.#accept();
    this.#isAccepted = true;
    this.#answer();
  }

  move(moves: readonly Move[]): void {
    this.#open.move(moves);
  }

  rest(id: Key, rest: Rest): void {
    for (const place of this.#open.take(id)) this.#rests[place] = rest;
    this.#answer();
  }

  reject(error: unknown): void {
    this.#reject(error);
  }

  #answer(): void {
    if (this.#isAccepted && this.#open.isEmpty) this.#resolve(this.#rests);
  }
}

/** Tickets by the node that they wait for. */
export class TicketBoard {
  readonly #byId = new Map<Key, Set<OpenTicket>>();

  add(ticket: OpenTicket): void {
    for (const id of ticket.ids) this.#of(id).add(ticket);
  }

  /** All at once, because nodes may have swapped their ids. */
  move(moves: readonly Move[]): void {
    const taken = moves.map(({ from, to }) => {
      const tickets = this.#byId.get(from) ?? new Set();
      this.#byId.delete(from);
      return { to, tickets };
    });
    for (const ticket of new Set(taken.flatMap(({ tickets }) => [...tickets]))) ticket.move(moves);
    for (const { to, tickets } of taken) for (const ticket of tickets) this.#of(to).add(ticket);
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
