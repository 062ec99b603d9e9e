import { loadFacts } from "./facts/facts.js";
import { readState, writeState } from "./storage/snapshot-file.js";
import type { StorageState } from "./storage/storage.js";
import { StorageFailure } from "./storage/storage-error.js";

/**
 * All objects of a control plane at one moment. Never changes; what begins with it shares it until it writes.
 *
 * ```ts
 * await plane.snapshot().save("cluster.snapshot");
 * await using other = await controlPlane({ from: await ControlPlaneSnapshot.load("cluster.snapshot") });
 * ```
 */
export class ControlPlaneSnapshot {
  /** @internal */
  readonly state: StorageState;
  /** When it was taken, by the clock of its control plane, in milliseconds: what is to go on from it begins then. */
  readonly takenAtMs: number;

  /** @internal */
  constructor(state: StorageState, takenAtMs: number) {
    this.state = state;
    this.takenAtMs = takenAtMs;
  }

  /**
   * Reads a file that {@link save} wrote. Rejects with a `StorageFailure` for any other, and for one with an object in it
   * that no server would have stored.
   */
  static async load(file: string): Promise<ControlPlaneSnapshot> {
    const { state, takenAtMs } = await readState(file);
    // Loaded here: hardly any start needs it.
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

  /** The newest resourceVersion within it. */
  get revision(): number {
    return this.state.revision;
  }

  /** Writes it to a file for this user alone: secrets are in it as they are. */
  save(file: string): Promise<void> {
    return writeState(file, this.state, this.takenAtMs);
  }
}
