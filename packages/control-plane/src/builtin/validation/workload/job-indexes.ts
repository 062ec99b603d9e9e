import { goQuote } from "../../../api/go-format.js";

/** A range of indexes in a Job's status: `1,3-5`. */
type Interval = readonly [first: number, last: number];

/** The number of indexes in a text, and the error in it. */
export interface Indexes {
  readonly total: number;
  readonly complaint?: string;
}

export function indexesIn(text: string, completions: number): Indexes {
  if (text === "") return { total: 0 };
  let total = 0;
  let previous: number | undefined;
  for (const part of text.split(",")) {
    const interval = intervalOf(part, completions);
    if (typeof interval === "string") return { total: 0, complaint: interval };
    const [first, last] = interval;
    if (previous !== undefined && previous >= first) return { total: 0, complaint: notRising(previous, first) };
    total += last - first + 1;
    previous = last;
  }
  return { total };
}

/** The first index in both texts. */
export function sharedIndex(one: string, other: string, completions: number): number | undefined {
  const read = (text: string): readonly Interval[] =>
    text
      .split(",")
      .map((part) => intervalOf(part, completions))
      .filter((interval): interval is Interval => typeof interval !== "string");
  for (const [from, to] of read(one)) {
    for (const [first, last] of read(other)) if (from <= last && first <= to) return Math.max(from, first);
  }
  return undefined;
}

const notRising = (previous: number, current: number): string =>
  `non-increasing order, previous: ${previous}, current: ${current}`;

function intervalOf(part: string, completions: number): Interval | string {
  const limits = part.split("-");
  if (limits.length > 2) {
    return `the fragment ${goQuote(part)} violates the requirement that an index interval can have at most two parts separated by '-'`;
  }
  const numbers: number[] = [];
  for (const limit of limits) {
    if (!/^\+?\d+$/.test(limit)) return `cannot convert string to integer for index: ${goQuote(limit)}`;
    if (Number(limit) >= completions) return `too large index: ${goQuote(limit)}`;
    numbers.push(Number(limit));
  }
  const [first = 0, last = first] = numbers;
  return limits.length > 1 && first >= last ? notRising(first, last) : [first, last];
}
