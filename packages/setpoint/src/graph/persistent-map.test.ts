import { expect, it } from "vitest";
import { seededRandom } from "../clock/random.js";
import { PersistentMap } from "./persistent-map.js";

it.each([1, 2, 3, 4, 5])(
  "behaves like a Map, leaves earlier versions unchanged, and iterates in an order of the keys alone (seed %i)",
  (seed) => {
    const random = seededRandom(seed);
    const below = (count: number): number => Math.floor(random.next() * count);
    const shown = (map: PersistentMap<number>): string => JSON.stringify([[...map.keys()], [...map.values()]]);
    let owner = {};
    let map = PersistentMap.empty<number>();
    const model = new Map<string, number>();
    for (let step = 0; step < 400; step++) {
      const [key, isNewOwner, before] = [`key-${below(200)}`, below(2) === 0, { map, text: shown(map) }];
      if (isNewOwner) owner = {};
      map = step % 3 === 0 ? map.delete(key, owner) : map.set(key, step, owner);
      if (step % 3 === 0) model.delete(key);
      else model.set(key, step);
      if (isNewOwner) expect(shown(before.map)).toBe(before.text);
    }
    expect(map.size).toBe(model.size);
    for (const [key, value] of model) expect(map.get(key)).toBe(value);
    let again = PersistentMap.empty<number>();
    for (const [key, value] of [...model].reverse()) again = again.set(key, value);
    expect(shown(again)).toBe(shown(map));
  },
);
