import type { Change, Subscriber } from "./storage.js";

/** One subscriber's position in a resource's changes. */
export class Subscription implements Disposable {
  readonly #subscriber: Subscriber;
  readonly #remove: (subscription: Subscription) => void;
  /** The subscriber has received the changes at or below this revision, or does not want them. */
  #revision: number;
  /**
   * How many unsent bytes the subscriber may hold. Changes replayed at the start come on top of the limit. Otherwise
   * a subscriber that resumes from far behind would be ended again and again before it could read a byte.
   */
  #allowanceBytes: number;
  #isOver = false;

  constructor(
    subscriber: Subscriber,
    fromRevision: number,
    limitBytes: number,
    remove: (subscription: Subscription) => void,
  ) {
    this.#subscriber = subscriber;
    this.#revision = fromRevision;
    this.#allowanceBytes = limitBytes;
    this.#remove = remove;
  }

  replay(changes: readonly Change[]): void {
    if (changes.length === 0) return;
    this.#allowanceBytes += this.#subscriber.backlogBytes ? sizeOf(changes) : 0;
    this.#deliver(changes);
  }

  publish(changes: readonly Change[]): void {
    this.#deliver(changes);
    const backlogBytes = this.#isOver ? 0 : (this.#subscriber.backlogBytes?.() ?? 0);
    if (backlogBytes > this.#allowanceBytes) this.end("overflow");
  }

  end(reason: "overflow" | "closed"): void {
    if (this.#isOver) return;
    this[Symbol.dispose]();
    this.#subscriber.ended(reason);
  }

  [Symbol.dispose](): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#remove(this);
  }

  #deliver(changes: readonly Change[]): void {
    if (this.#isOver) return;
    const isWanted = changes[0]!.revision > this.#revision;
    const wanted = isWanted ? changes : changes.filter((change) => change.revision > this.#revision);
    if (wanted.length === 0) return;
    this.#revision = wanted.at(-1)!.revision;
    this.#subscriber.changes(wanted);
  }
}

function sizeOf(changes: readonly Change[]): number {
  return changes.reduce((bytes, change) => bytes + change.current.json.byteLength, 0);
}
