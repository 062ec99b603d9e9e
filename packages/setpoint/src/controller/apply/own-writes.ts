import type { KubeObject } from "../../kinds/object.js";
import { copyWithout, isEqual, withoutPath } from "./field-paths.js";

/**
 * Whether two states of an object differ only in what the write may change. Fields that every write changes are removed
 * before.
 */
export type OwnChange = (before: KubeObject, after: KubeObject) => boolean;

/** For writes that change only the value at the path. */
export const onlyAt =
  (...path: readonly string[]): OwnChange =>
  (before, after) =>
    isEqual(withoutPath(before, path), withoutPath(after, path));

/**
 * The writes of this controller whose echo it need not react to. Only a response that differs from the known state in
 * nothing but the write itself is recorded, so a change by somebody else in between is never swallowed.
 */
export class OwnWrites {
  /** By source and object key: the resourceVersion of the response, and the key whose run wrote it. */
  readonly #echoes = new Map<string, { readonly resourceVersion: string; readonly writer: string }>();
  /** By source and object key: the events that arrived during a write. */
  readonly #held = new Map<string, (() => void)[]>();
  readonly #onError: (key: string, error: unknown) => void;

  /** `onError` is called if a held-back event could not be delivered. */
  constructor(onError: (key: string, error: unknown) => void = () => {}) {
    this.#onError = onError;
  }

  /**
   * Makes a write. A watch may show its result before the response arrives, so events of the object wait until the
   * write has ended and its response is recorded. An error while delivering them does not change the result of the
   * write.
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

  /** Keeps an event for later if a write of its object is in flight. */
  hold(source: string, key: string, deliver: () => void): boolean {
    if (this.#held.size === 0) return false;
    const held = this.#held.get(`${source} ${key}`);
    held?.push(deliver);
    return held !== undefined;
  }

  /** Records a response. */
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

  /** The key whose run wrote this state, if it is an echo; answers only once. */
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

/** The object without the fields that every write changes. */
function bare(object: KubeObject): KubeObject {
  const copy = copyWithout(object);
  copy.metadata = copyWithout(object.metadata, "generation", "managedFields", "resourceVersion");
  return copy as unknown as KubeObject;
}
