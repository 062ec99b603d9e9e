import { type Kind, type KubeObject, type Trigger, type Watcher, watcher } from "setpoint";
import type { Shared } from "./shared.js";

/** Enqueues an object of the kind when its tools were listed, or could not be. */
export function discovered(groupKind: string, { tools }: Shared): Trigger {
  const prefix = `${groupKind} `;
  return {
    name: "tools discovered",
    start({ enqueue, signal }) {
      const listening = tools.onResult((id) => id.startsWith(prefix) && enqueue(id.slice(prefix.length)));
      signal.addEventListener("abort", () => listening[Symbol.dispose](), { once: true });
    },
  };
}

const SWEEP_MS = 60_000;

/** Runs `work` now and then every minute until the signal aborts. Ignores failures: the next round tries again. */
async function eachMinute(
  work: () => Promise<void>,
  { clock }: Pick<Shared, "clock">,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    await work().catch(() => {});
    await clock.sleep(SWEEP_MS, signal).catch(() => {});
  }
}

/**
 * Removes the rows of servers whose deletion the watcher missed: before the start, or during a run that wrote the row
 * after the deletion. Starts once the cache has synced.
 */
export function sweep(groupKind: string, shared: Shared): Trigger {
  return {
    name: "sweep",
    start({ keys, signal }) {
      void eachMinute(
        async () => {
          // Read the rows before the keys. Otherwise the row of an object created in between would be deleted.
          const rows = (await shared.store.servers()).filter((row) => row.groupKind === groupKind);
          const living = new Set(keys());
          for (const row of rows) if (!living.has(row.name)) await shared.store.deleteServer(row, row.uid);
        },
        shared,
        signal,
      );
    },
  };
}

/** Like {@link sweep}, for the rows of agents. `idOf` maps a key to a row id. */
export function sweepAgents(idOf: (key: string) => string, shared: Shared): Trigger {
  return {
    name: "sweep",
    start({ keys, signal }) {
      void eachMinute(
        async () => {
          const rows = await shared.store.agents();
          const living = new Set([...keys()].map(idOf));
          for (const row of rows) if (!living.has(row.id)) await shared.store.deleteAgent(row.id, row.uid);
        },
        shared,
        signal,
      );
    },
  };
}

/** Removes the rows of a server when its object is deleted, or no longer matches the label selector. */
export function removedServers<T extends KubeObject>(
  kind: Kind<T>,
  groupKind: string,
  shared: Shared,
  labelSelector?: string,
): Watcher<T> {
  return watcher(kind, {
    name: `${kind.plural}-gone`,
    ...(labelSelector === undefined ? {} : { labelSelector }),
    ...(shared.namespaces ? { namespaces: shared.namespaces } : {}),
    async delete({ metadata }: T) {
      const name = `${metadata.namespace}/${metadata.name}`;
      shared.tools.forget(`${groupKind} ${name}`, metadata.uid);
      await shared.store.deleteServer({ name, groupKind }, metadata.uid!);
    },
  });
}
