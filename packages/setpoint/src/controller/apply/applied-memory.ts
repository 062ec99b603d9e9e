import type { JsonObject, KubeObject } from "../../kinds/object.js";
import { digest, digestOfApplied } from "./applied-fields.js";

/**
 * Remembers what an apply asked for and what the server made of it, where that differs. Values that the server
 * normalises (`1000m` to `1`) do so ever after; as long as both are what they were, that is no drift.
 */
export class AppliedMemory {
  readonly #known = new Map<string, { readonly desired: string; readonly applied: string }>();

  remember(source: string, key: string, desired: JsonObject, entry: JsonObject, object: KubeObject): void {
    this.#known.set(`${source} ${key}`, { desired: digest(desired), applied: digestOfApplied(entry, object) });
  }

  /** Whether the object still is what the server made of the same desire. */
  isCurrent(source: string, key: string, desired: JsonObject, entry: JsonObject, object: KubeObject): boolean {
    const known = this.#known.get(`${source} ${key}`);
    return known !== undefined && known.desired === digest(desired) && known.applied === digestOfApplied(entry, object);
  }

  forget(source: string, key: string): void {
    this.#known.delete(`${source} ${key}`);
  }
}
