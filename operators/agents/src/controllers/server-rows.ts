import { type Kind, type KubeObject, type Trigger, type Watcher, watcher } from "setpoint";
import type { Shared } from "./shared.js";

/** Runs an object of a kind when there is a result about its tools. */
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

/** Does something at once and each minute, as long as the signal lasts. What fails is done again the next time. */
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
 * Removes the rows of servers that went away while nobody looked: before the start, or in the middle of a run that wrote
 * its row after all. Begins once all objects are known.
 */
export function sweep(groupKind: string, shared: Shared): Trigger {
  return {
    name: "sweep",
    start({ keys, signal }) {
      void eachMinute(
        async () => {
          // Rows first: a row whose object is not there later belongs to none that came meanwhile.
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

/** The same for the rows of agents; `idOf` gives the id of a key. */
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

/** Removes the rows of a server when its object goes, or loses the label by which it was one. */
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
