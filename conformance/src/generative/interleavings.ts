import { area, type Case } from "../case.js";
import type { Body, Session, WatchSession } from "../session.js";
import { Dice } from "./dice.js";

const STEPS = 25;
const NAMES = ["a", "b", "c", "d"];
const path = (s: Session): string => `/api/v1/namespaces/${s.namespace}/configmaps`;

/** Random writes with watches and lists in between; each must show the same on both servers. */
function interleaving(seed: number): Case["run"] {
  return async (s) => {
    const dice = new Dice(seed);
    const watches: WatchSession[] = [];
    const versions: string[] = [];
    try {
      for (let step = 0; step < STEPS; step++) {
        const roll = dice.number(10);
        if (roll < 6) await write(s, dice);
        else if (roll < 8) await list(s, dice, versions);
        else if (watches.length < 4) watches.push(await open(s, dice, versions));
      }
      await s.post(path(s), { metadata: { name: "last", labels: { mine: "", team: "x" } } }, { silent: true });
      for (const watch of watches) await story(watch);
    } finally {
      for (const watch of watches) watch[Symbol.dispose]();
    }
  };
}

async function write(s: Session, dice: Dice): Promise<void> {
  const name = dice.pick(NAMES);
  const labels = { mine: "", team: dice.pick(["x", "y"]) };
  const how = dice.number(4);
  if (how === 0) await s.post(path(s), { metadata: { name, labels } });
  else if (how === 1) await s.delete(`${path(s)}/${name}`);
  else await s.patch("merge", `${path(s)}/${name}`, { metadata: { labels }, data: { n: String(dice.number(3)) } });
}

async function list(s: Session, dice: Dice, versions: string[]): Promise<void> {
  const selector = dice.pick(["mine", "mine,team=x", "mine,team!=x"]);
  const { body } = await s.get(
    `${path(s)}?labelSelector=${encodeURIComponent(selector)}${dice.chance(0.3) ? "&limit=2" : ""}`,
  );
  versions.push(body.metadata.resourceVersion);
}

async function open(s: Session, dice: Dice, versions: readonly string[]): Promise<WatchSession> {
  const selector = encodeURIComponent(dice.pick(["mine", "mine,team=x"]));
  const from = versions.length > 0 && dice.chance(0.7) ? `&resourceVersion=${dice.pick(versions)}` : "";
  return await s.watch(`${path(s)}?watch=true&labelSelector=${selector}${from}`);
}

/** Reads events until the last write was seen. */
async function story(watch: WatchSession): Promise<void> {
  for (let event: Body; event?.object?.metadata?.name !== "last"; ) {
    [event] = await watch.take(1, { timeoutMs: 30_000 });
    if (event === undefined) return;
  }
}

export const interleavings = (seeds: readonly number[]): readonly Case[] =>
  area("random interleavings", Object.fromEntries(seeds.map((seed) => [`seed ${seed}`, interleaving(seed)])));
