import { SetpointError } from "../errors/error.js";
import type { GraphSession, GraphStore } from "./graph-store.js";
import type { Key } from "./resource.js";
import type { GraphRecord } from "./state.js";

/** A store in memory: for tests, and for graphs that are rebuilt from elsewhere. */
export function memoryStore(): GraphStore {
  const records = new Map<Key, GraphRecord>();
  let epoch = 0;
  return {
    open(): GraphSession {
      const own = ++epoch;
      return {
        records: () => [...records].map(([id, record]) => ({ id, record })),
        commit(writes) {
          if (own !== epoch)
            throw new SetpointError("GRAPH_FENCED", "another process has opened the store of this graph");
          for (const { id, expected } of writes) {
            const stored = records.get(id)?.meta.version ?? 0;
            if (stored === expected) continue;
            throw new SetpointError("GRAPH_CONFLICT", `${id} is stored with version ${stored}, not ${expected}`);
          }
          for (const write of writes) {
            if (write.type === "put") records.set(write.id, write.record);
            else records.delete(write.id);
          }
        },
        [Symbol.dispose]: () => {},
      };
    },
  };
}
