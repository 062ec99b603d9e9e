import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import type { KubeObject } from "setpoint";
import { OwnerIndex } from "./owner-index.js";
import { writePrivateFile } from "./private-file.js";
import { SortedMap } from "./sorted-map.js";
import type { StorageState, StoredObject } from "./storage.js";
import { StorageFailure } from "./storage-error.js";
import { StoredState } from "./stored-state.js";

/** The first line of the file. Each further line is one object with its resource, key and revision. */
interface Header {
  readonly setpoint: "snapshot";
  readonly version: 1;
  readonly revision: number;
  readonly takenAt: string;
}

interface Line {
  readonly resource: string;
  readonly key: string;
  readonly revision: number;
  readonly object: KubeObject;
}

/** Writes a state to a file that only this user can read, because it holds every Secret. */
export async function writeState(path: string, state: StorageState, takenAtMs: number): Promise<void> {
  const takenAt = new Date(takenAtMs).toISOString();
  const header: Header = { setpoint: "snapshot", version: 1, revision: state.revision, takenAt };
  await writePrivateFile(path, linesOf(header, state));
}

function* linesOf(header: Header, { trees }: StorageState): Iterable<string> {
  yield `${JSON.stringify(header)}\n`;
  for (const [resource, tree] of trees) {
    for (const [key, { revision, object }] of tree.from()) {
      yield `${JSON.stringify({ resource, key, revision, object } satisfies Line)}\n`;
    }
  }
}

/** Reads a file written by `writeState`. Rejects with a `StorageFailure` for any other file. */
export async function readState(path: string): Promise<{ readonly state: StorageState; readonly takenAtMs: number }> {
  const trees = new Map<string, SortedMap<StoredObject>>();
  const owners = new OwnerIndex();
  let header: Header | undefined;
  try {
    for await (const text of createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY })) {
      if (header === undefined) {
        header = JSON.parse(text) as Header;
        if (header.setpoint !== "snapshot" || header.version !== 1)
          throw new StorageFailure("STORAGE_UNREADABLE", "it is not a snapshot of this version");
        continue;
      }
      const { resource, key, revision, object } = JSON.parse(text) as Line;
      const stored = StoredState.of(resource, key, revision, object);
      let tree = trees.get(resource);
      if (tree === undefined) trees.set(resource, (tree = new SortedMap()));
      tree.set(key, stored);
      owners.restore(stored);
    }
    if (header === undefined) throw new StorageFailure("STORAGE_UNREADABLE", "it is empty");
  } catch (error) {
    const why = (error as Error).message;
    throw new StorageFailure("STORAGE_UNREADABLE", `the snapshot ${path} cannot be read: ${why}`, { cause: error });
  }
  const { revision, takenAt } = header;
  return { state: { revision, trees, owners }, takenAtMs: Date.parse(takenAt) };
}
