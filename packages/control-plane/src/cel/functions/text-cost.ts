import { Range } from "../costs/range.js";
import { ListValue, MapValue } from "../values/collection.js";
import { Bytes, type CelValue } from "../values/value.js";
import { sizeOf } from "../values/value-type.js";
import type { FunctionCost } from "./declaration.js";

/** Reading text costs a tenth of its length. */
export const TEXT_FACTOR = 0.1;
/** Assumes one regular expression state per four characters. */
export const PATTERN_FACTOR = 0.25;

/** A call with a constant cost of one. */
export const NOMINAL: FunctionCost = { estimate: () => ({ cost: Range.one }), track: () => 1 };

/** Reads the target, or the first argument, this many times. */
export function readingText(times: number, givesSize = false): FunctionCost {
  return {
    estimate: ({ target, args: [first] }) => {
      const read = target ?? first;
      if (read === undefined) return undefined;
      const cost = read.size.scaled(times * TEXT_FACTOR);
      return givesSize ? { cost, size: read.size } : { cost };
    },
    track: ([text]) => (text === undefined ? undefined : Math.ceil(sizeOf(text) * times * TEXT_FACTOR)),
  };
}

/** Matches the target against the pattern argument. */
export function matchingPattern(givesSize: boolean): FunctionCost {
  return {
    estimate: ({ target, args: [pattern] }) => {
      if (target === undefined || pattern === undefined) return undefined;
      const reading = target.size.plus(Range.one).scaled(TEXT_FACTOR);
      const cost = reading.times(pattern.size.scaled(PATTERN_FACTOR));
      return givesSize ? { cost, size: new Range(0n, target.size.max) } : { cost };
    },
    track: ([text, pattern]) => {
      if (text === undefined || pattern === undefined) return undefined;
      return Math.ceil((1 + sizeOf(text)) * TEXT_FACTOR) * Math.ceil(sizeOf(pattern) * PATTERN_FACTOR);
    },
  };
}

/** The cost of visiting every part of a value. */
export function traversalCost(value: CelValue): number {
  if (typeof value === "string") return Math.trunc(Buffer.byteLength(value) * TEXT_FACTOR);
  if (value instanceof Bytes) return Math.trunc(value.value.length * TEXT_FACTOR);
  if (value instanceof ListValue) return value.items.reduce<number>((total, item) => total + traversalCost(item), 0);
  if (value instanceof MapValue) {
    return value.keys.reduce<number>((total, key) => total + traversalCost(key) + traversalCost(value.get(key)!), 0);
  }
  return 1;
}
