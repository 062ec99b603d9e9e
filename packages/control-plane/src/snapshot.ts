import { loadFacts } from "./facts/facts.js";
import { readState, writeState } from "./storage/snapshot-file.js";
import type { StorageState } from "./storage/storage.js";
import { StorageFailure } from "./storage/storage-error.js";

/**
 * All objects of a control plane at one moment. Immutable. A control plane that starts from it shares it until it
 * writes.
 *
 * ```ts
 * await plane.snapshot().save("cluster.snapshot");
 * await using other = await controlPlane({ from: await ControlPlaneSnapshot.load("cluster.snapshot") });
 * ```
 */
export class ControlPlaneSnapshot {
  /** @internal */
  readonly state: StorageState;
  /** When it was taken, in milliseconds of its control plane's clock. Start a continuing clock there. */
  readonly takenAtMs: number;

  /** @internal */
  constructor(state: StorageState, takenAtMs: number) {
    this.state = state;
    this.takenAtMs = takenAtMs;
  }

  /**
   * Reads a file written by {@link save}. Rejects with a `StorageFailure` for any other file, or for an invalid
   * object in it.
   */
  static async load(file: string): Promise<ControlPlaneSnapshot> {
    const { state, takenAtMs } = await readState(file);
    // Loaded on demand, because few starts need it.
    const { restoredProblem } = await import("./registry/restored-object.js");
    const facts = await loadFacts();
    for (const [resource, tree] of state.trees) {
      for (const [key, stored] of tree.from()) {
        const problem = restoredProblem(facts, stored);
        if (problem === undefined) continue;
        const what = `the snapshot ${file} cannot be read: ${resource} ${key}: ${problem}`;
        throw new StorageFailure("STORAGE_UNREADABLE", what);
      }
    }
    return new ControlPlaneSnapshot(state, takenAtMs);
  }

  /** The newest resourceVersion in the snapshot. */
  get revision(): number {
    return this.state.revision;
  }

  /** Writes it to a file that only this user can read, because it contains Secrets in plain text. */
  save(file: string): Promise<void> {
    return writeState(file, this.state, this.takenAtMs);
  }
}
