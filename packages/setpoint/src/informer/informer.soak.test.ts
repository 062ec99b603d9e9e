import { describe, expect, it } from "vitest";
import { createClient } from "../client/api-client.js";
import { type Fault, faultTransport } from "../client/transport/fault-transport.js";
import { type Random, seededRandom, systemRandom } from "../clock/random.js";
import { VirtualClock } from "../clock/virtual-clock.js";
import { Informers } from "./informers.js";
import { ModelApi } from "./reflector/model-api.testing.js";
import { Widget } from "./reflector/scripted-api.testing.js";
import { StepLog } from "./step-log.testing.js";

const EVENTS = Number(process.env.SOAK_EVENTS ?? 1_000_000);
const KEYS = 10_000;
const MOST_CHANGES_PER_TURN = 400;
/** With a higher probability the informer would mostly back off, and there would be few watches to disturb. */
const FAULT_PROBABILITY = 0.6;
const FIXED_SEEDS = [1, 20_260_101];
const seeds = process.env.SOAK_SEED
  ? [Number(process.env.SOAK_SEED)]
  : [...FIXED_SEEDS, Math.floor(systemRandom.next() * 2 ** 31)];

/** A server without streamed lists returns pages, and changes between two of them. */
const LISTS = { streamed: {}, "in pages": { streamsLists: false, pageSize: 3000 } } as const;
const runs = seeds.flatMap((seed) => (["streamed", "in pages"] as const).map((lists) => ({ seed, lists })));

const below = (random: Random, limit: number): number => Math.floor(random.next() * limit);

/** Every type of fault, by name. */
const FAULTS: Readonly<Record<string, (random: Random) => Fault>> = {
  refused: () => ({ type: "refuse" }),
  reset: () => ({ type: "reset" }),
  "reset after it was sent": () => ({ type: "reset", afterSend: true }),
  "no backend": () => ({ type: "respond", status: 404, body: "<html>no backend</html>" }),
  "answers out of order": (random) => ({
    type: "delay",
    before: below(random, 5000),
    after: below(random, 20_000),
  }),
  cut: (random) => ({ type: "cut", afterBytes: below(random, 400_000) }),
  "line cut short": (random) => ({ type: "truncate", afterBytes: below(random, 400_000) }),
  "half-open": (random) => ({ type: "stall", afterBytes: below(random, 200_000) }),
  stalled: (random) => ({ type: "stall", afterBytes: below(random, 200_000), ms: below(random, 90_000) }),
  "small pieces": (random) => ({ type: "fragment", bytes: 1 + below(random, 3000) }),
  ...Object.fromEntries(
    [410, 429, 500, 503].map((status) => [`status ${status}`, () => ({ type: "respond", status }) as const]),
  ),
  ...Object.fromEntries(
    [410, 429, 500].map((status) => [
      `error event ${status}`,
      (random: Random) => ({ type: "error-event", afterBytes: below(random, 300_000), status }) as const,
    ]),
  ),
};

/** Faults for six of ten requests, dealt like cards: each once before one is repeated, so that none is left out. */
function dealtFaults(random: Random): { plan: () => Fault | undefined; counts: Map<string, number> } {
  const counts = new Map(Object.keys(FAULTS).map((name) => [name, 0]));
  let deck: string[] = [];
  const plan = (): Fault | undefined => {
    if (random.next() >= FAULT_PROBABILITY) return undefined;
    if (deck.length === 0) deck = Object.keys(FAULTS);
    const [name] = deck.splice(below(random, deck.length), 1) as [string];
    counts.set(name, counts.get(name)! + 1);
    return FAULTS[name]!(random);
  };
  return { plan, counts };
}

describe("informer under faults", () => {
  it.each(runs)(
    `ends equal to the server after ${EVENTS} events, and no handler misses a promised step (lists $lists, SOAK_SEED=$seed)`,
    async ({ seed, lists: howListed }) => {
      const random = seededRandom(seed);
      const clock = new VirtualClock();
      const api = new ModelApi(clock, seededRandom(seed + 1), 20_000);
      let isFaulty = true;
      const faults = dealtFaults(seededRandom(seed + 2));
      const transport = faultTransport(api, () => (isFaulty ? faults.plan() : undefined), clock);
      const client = createClient({ transport, server: "model", clock, random: seededRandom(seed + 3) });
      const informers = new Informers(client, {
        clock,
        random: seededRandom(seed + 4),
        watchTimeout: "45s",
        ...LISTS[howListed],
      });
      const widgets = informers.for(Widget);

      const [prompt, slow] = [new StepLog(), new StepLog()];
      widgets.addHandler((event) => prompt.see(event));
      widgets.addHandler(
        async (event) => {
          slow.see(event);
          if (slow.steps % 20 === 0) await clock.sleep(below(random, 3000));
        },
        { maxStepsPerKey: 3 },
      );
      let passing: { log: StepLog; registration: Disposable } | undefined;
      const own = new Set<number>();
      const answers: Widget[] = [];

      while (api.changes.length < EVENTS) {
        for (let left = below(random, MOST_CHANGES_PER_TURN); left > 0; left--) {
          // A tenth of the keys gets half of the changes, so that slow handlers have something to merge.
          const name = `w${below(random, random.next() < 0.5 ? KEYS / 10 : KEYS)}`;
          const dice = random.next();
          if (dice < 0.15) api.delete(name);
          else if (dice < 0.2) answers.push(api.write(name));
          else api.write(name);
        }
        for (const written of answers.splice(0, below(random, answers.length + 1))) {
          own.add(Number(written.metadata.resourceVersion));
          widgets.observe(written);
        }
        if (random.next() < 0.02) {
          passing?.registration[Symbol.dispose]();
          const log = new StepLog();
          passing = { log, registration: widgets.addHandler((event) => log.see(event)) };
        }
        await clock.advance(below(random, 20_000));
      }

      isFaulty = false;
      for (let minute = 0; minute < 30 && Number(widgets.status().lastResourceVersion) < api.revision; minute++) {
        await clock.advance(60_000);
      }
      expect(widgets.status()).toMatchObject({ phase: "watching", lastResourceVersion: String(api.revision) });
      while (widgets.status().backlog > 0) await clock.advance(60_000);

      const expected = new Map([...api.live].map(([key, { uid, revision }]) => [key, { uid, revision }]));
      const stored = new Map(
        [...widgets.list()].map(({ metadata: { name, namespace, uid, resourceVersion } }) => [
          `${namespace}/${name}`,
          { uid, revision: Number(resourceVersion) },
        ]),
      );
      expect(sorted(stored)).toEqual(sorted(expected));
      for (const log of [prompt, slow, passing?.log]) if (log) expect(sorted(log.state)).toEqual(sorted(expected));
      slow.expectMergeOf(prompt);
      const promised = prompt.expectPromised(api.changes, watchedSpans(api), own);
      const lists = api.answers.filter((answer) => answer.type === "list").length;
      console.log(
        `seed ${seed}, lists ${howListed}: ${api.changes.length} changes, ${promised} promised, ${lists} lists, ` +
          `${api.answers.length - lists} watches, ${prompt.steps} and ${slow.steps} steps (${slow.merged} merged); ` +
          `pages ${JSON.stringify(api.laterPages)}, faults ${JSON.stringify(Object.fromEntries(faults.counts))}`,
      );
      expect([...faults.counts].filter(([, count]) => count === 0)).toEqual([]);
      // About five in 100,000 events: with an untested seed there may be none in so few events.
      const isCertain = FIXED_SEEDS.includes(seed) || EVENTS >= 1_000_000;
      if (howListed === "in pages" && isCertain) expect(api.laterPages.outdated).toBeGreaterThan(0);
      expect(promised).toBeGreaterThan(EVENTS / 20);
      await informers[Symbol.asyncDispose]();
    },
    3_600_000,
  );
});

const sorted = <V>(map: ReadonlyMap<string, V>): [string, V][] => [...map].sort(([a], [b]) => (a < b ? -1 : 1));

/** The spans of history that watches alone covered: from a list or watch to the start of the next watch. */
function watchedSpans(api: ModelApi): (readonly [number, number])[] {
  const spans: (readonly [number, number])[] = [];
  for (const [index, answer] of api.answers.entries()) {
    const before = api.answers[index - 1];
    if (answer.type === "watch" && before && answer.revision > before.revision)
      spans.push([before.revision, answer.revision]);
  }
  const last = api.answers.at(-1);
  if (last) spans.push([last.revision, api.revision]);
  return spans;
}
