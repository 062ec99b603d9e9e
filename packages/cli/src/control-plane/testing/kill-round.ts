import { type Client, connect, isSetpointError, type ObjectOf } from "setpoint";
import type { WatchEvent } from "setpoint/client";
import { type Random, systemClock } from "setpoint/clock";
import { ConfigMap } from "setpoint/kinds/v1";
import { startServer } from "./server-process.js";
import { contentOf, objectOf, Writers } from "./writers.js";

type Event = WatchEvent<ObjectOf<typeof ConfigMap>>;

export interface KillRoundOptions {
  readonly folder: string;
  /** Names of this round's objects start with it. */
  readonly prefix: string;
  readonly random: Random;
  readonly clients: number;
  /** The server is killed some time after so many writes were acknowledged. */
  readonly acknowledgedWrites: number;
  readonly contentBytes: number;
  /** How many changes the server remembers: a small number makes it compact all the time. */
  readonly historyChanges?: number;
}

const SELECTOR = { namespace: "default", labelSelector: "writer=yes" };

/**
 * Kills a server while many clients write, starts it again and compares. Throws where an acknowledged write is missing,
 * a half-written object is visible, a revision is used twice, or a watch that resumes misses an event.
 */
export async function killRound(options: KillRoundOptions): Promise<{ readonly acknowledged: number }> {
  const { folder, random } = options;
  const args = options.historyChanges === undefined ? [] : ["--history-changes", String(options.historyChanges)];
  const writers = new Writers(random);
  const seen: Event[] = [];
  let startRevision: string;
  let startState: Map<string, string>;
  {
    await using server = await startServer({ folder, args });
    await using client = await connect({ kubeconfig: server.kubeconfig, retry: { attempts: 1 } });
    ({ revision: startRevision, state: startState } = await stateOf(client));
    const watching = collect(client, startRevision, seen);
    const writing = writers.run(client, options.clients, options.prefix, options.contentBytes);
    while (writers.acknowledged < options.acknowledgedWrites) await systemClock.sleep(1);
    await systemClock.sleep(Math.floor(random.next() * 20));
    await server.stop("SIGKILL");
    writers.stop();
    await Promise.all([writing, watching]);
  }
  await using server = await startServer({ folder, args });
  await using client = await connect({ kubeconfig: server.kubeconfig });
  const { state, revision } = await stateOf(client);
  for (const [name, known] of writers.known) checkObject(name, state.get(name), known);
  const next = await client.create(ConfigMap, objectOf(`${options.prefix}-next`, "next"));
  const newest = Math.max(...seen.map(revisionOf), Number(revision));
  if (Number(next.metadata.resourceVersion) <= newest) throw new Error(`revision ${newest} was given out again`);
  const known = { seen, startRevision, startState, state, revision, next: next.metadata.name };
  await checkWatch(client, { ...known, isExpiryAllowed: args.length > 0 });
  await server.stop("SIGTERM");
  return { acknowledged: writers.acknowledged };
}

/** Throws where an object is not what its writer knows of it. */
export function checkObject(
  name: string,
  content: string | undefined,
  known: Writers["known"] extends Map<string, infer K> ? K : never,
): void {
  const possible = known.unanswered ? [known.content, known.unanswered.content] : [known.content];
  if (possible.includes(content)) return;
  const shown = (text: string | undefined): string => text?.slice(0, 20) ?? "nothing";
  throw new Error(`${name}: found ${shown(content)}, expected ${possible.map(shown).join(" or ")}`);
}

interface WatchCheck {
  readonly seen: readonly Event[];
  readonly startRevision: string;
  readonly startState: ReadonlyMap<string, string>;
  readonly state: ReadonlyMap<string, string>;
  readonly revision: string;
  /** An object that was made after `revision`, before anything else: with it the watch has told all. */
  readonly next: string;
  readonly isExpiryAllowed: boolean;
}

/** Resumes where the watch broke off: both parts together must lead from the first state to the last. */
async function checkWatch(client: Client, check: WatchCheck): Promise<void> {
  const { seen, startRevision, startState, state, revision, next, isExpiryAllowed } = check;
  const resumed: Event[] = [];
  const from = seen.length > 0 ? String(revisionOf(seen.at(-1)!)) : startRevision;
  let isWhole = false;
  try {
    for await (const event of client.watch(ConfigMap, { ...SELECTOR, resourceVersion: from, timeoutSeconds: 60 })) {
      isWhole = event.type === "ADDED" && event.object.metadata.name === next;
      if (isWhole) break;
      resumed.push(event);
    }
  } catch (error) {
    if (isExpiryAllowed && isSetpointError(error, "API_EXPIRED")) return;
    throw error;
  }
  if (!isWhole) throw new Error(`the watch from ${from} misses ${next}`);
  const replayed = new Map(startState);
  let last = 0;
  for (const event of [...seen, ...resumed]) {
    if (event.type === "BOOKMARK") continue;
    if (revisionOf(event) <= last) throw new Error(`revision ${revisionOf(event)} came after ${last}`);
    last = revisionOf(event);
    const { name } = event.object.metadata;
    if (event.type === "DELETED") replayed.delete(name);
    else replayed.set(name, contentOf(event.object));
  }
  for (const name of new Set([...replayed.keys(), ...state.keys()])) {
    if (replayed.get(name) !== state.get(name))
      throw new Error(`the watch until ${revision} misses a change of ${name}`);
  }
}

function revisionOf(event: Event): number {
  return Number(event.type === "BOOKMARK" ? event.resourceVersion : event.object.metadata.resourceVersion);
}

/** What the writers' objects hold, by name. */
export async function stateOf(client: Client): Promise<{ state: Map<string, string>; revision: string }> {
  const { items, resourceVersion } = await client.list(ConfigMap, SELECTOR);
  return { state: new Map(items.map((item) => [item.metadata.name, contentOf(item)])), revision: resourceVersion };
}

/** Collects events until the connection breaks. */
async function collect(client: Client, resourceVersion: string, seen: Event[]): Promise<void> {
  try {
    for await (const event of client.watch(ConfigMap, { ...SELECTOR, resourceVersion })) seen.push(event);
  } catch (error) {
    if (!isSetpointError(error) || !error.code.startsWith("TRANSPORT_")) throw error;
  }
}
