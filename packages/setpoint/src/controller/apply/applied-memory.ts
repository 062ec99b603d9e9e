import type { JsonObject, KubeObject } from "../../kinds/object.js";
import { digest, digestOfApplied } from "./applied-fields.js";

/**
 * Remembers what an apply asked for and what the server made of it, if these differ. A server always normalizes a value
 * in the same way (`1000m` to `1`), so as long as both stay the same there is no drift.
 */
export class AppliedMemory {
  readonly #known = new Map<string, { readonly desired: string; readonly applied: string }>();

  remember(source: string, key: string, desired: JsonObject, entry: JsonObject, object: KubeObject): void {
    this.#known.set(`${source} ${key}`, { desired: digest(desired), applied: digestOfApplied(entry, object) });
  }

  /** Whether the object is still what the server made of the same desired state. */
  isCurrent(source: string, key: string, desired: JsonObject, entry: JsonObject, object: KubeObject): boolean {
    const known = this.#known.get(`${source} ${key}`);
    return known !== undefined && known.desired === digest(desired) && known.applied === digestOfApplied(entry, object);
  }

  forget(source: string, key: string): void {
    this.#known.delete(`${source} ${key}`);
  }
}
