import type { KubeObject } from "../../kinds/object.js";
import { copyWithout, isEqual, withoutPath } from "./field-paths.js";

/** Whether two states of an object, without what every write changes, differ in nothing but what the write may change. */
export type OwnChange = (before: KubeObject, after: KubeObject) => boolean;

/** For writes that change nothing but what is at the path. */
export const onlyAt =
  (...path: readonly string[]): OwnChange =>
  (before, after) =>
    isEqual(withoutPath(before, path), withoutPath(after, path));

/**
 * The writes of this controller whose echo it need not react to. Only an answer that differs from what was known before
 * in nothing but the write itself is noted: so a change that somebody else made in between is never swallowed.
 */
export class OwnWrites {
  /** By source and object key: the resourceVersion of the answer, and the key whose run wrote it. */
  readonly #echoes = new Map<string, { readonly resourceVersion: string; readonly writer: string }>();
  /** By source and object key: what was seen while a write of it was under way. */
  readonly #held = new Map<string, (() => void)[]>();
  readonly #onError: (key: string, error: unknown) => void;

  /** `onError` is called if a held-back event could not be delivered. */
  constructor(onError: (key: string, error: unknown) => void = () => {}) {
    this.#onError = onError;
  }

  /**
   * Makes a write. A watch may show its result before the answer is there: what is seen of the object meanwhile is held
   * back until the write has ended, and its answer been noted. Whether that can then be handled does not change what the
   * write came to.
   */
  async during<Answer>(source: string, key: string, write: () => Promise<Answer>): Promise<Answer> {
    const id = `${source} ${key}`;
    if (this.#held.has(id)) return write();
    const held: (() => void)[] = [];
    this.#held.set(id, held);
    try {
      return await write();
    } finally {
      this.#held.delete(id);
      for (const deliver of held) this.#deliver(key, deliver);
    }
  }

  #deliver(key: string, deliver: () => void): void {
    try {
      deliver();
    } catch (error) {
      this.#onError(key, error);
    }
  }

  /** Keeps an event for later where a write of its object is under way. */
  hold(source: string, key: string, deliver: () => void): boolean {
    if (this.#held.size === 0) return false;
    const held = this.#held.get(`${source} ${key}`);
    held?.push(deliver);
    return held !== undefined;
  }

  /** Notes an answer. */
  note(
    source: string,
    key: string,
    writer: string,
    before: KubeObject | undefined,
    answer: KubeObject,
    isOwn: OwnChange,
  ): void {
    const isForeign = before !== undefined && !isOwn(bare(before), bare(answer));
    const id = `${source} ${key}`;
    if (isForeign) this.#echoes.delete(id);
    else this.#echoes.set(id, { resourceVersion: answer.metadata.resourceVersion, writer });
  }

  /** Which key's run made this very state, if it is an echo; answers once. */
  take(source: string, key: string, object: KubeObject | undefined): string | undefined {
    if (this.#echoes.size === 0) return undefined;
    const id = `${source} ${key}`;
    const echo = this.#echoes.get(id);
    if (!echo) return undefined;
    if (object?.metadata.resourceVersion !== echo.resourceVersion) {
      if (!object) this.#echoes.delete(id);
      return undefined;
    }
    this.#echoes.delete(id);
    return echo.writer;
  }
}

/** Without what every write changes. */
function bare(object: KubeObject): KubeObject {
  const copy = copyWithout(object);
  copy.metadata = copyWithout(object.metadata, "generation", "managedFields", "resourceVersion");
  return copy as unknown as KubeObject;
}
