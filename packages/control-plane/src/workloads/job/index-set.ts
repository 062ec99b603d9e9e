/**
 * Completion indexes of a Job as ranges, so that `0-2147483646` takes no more memory than `0`. The ranges are sorted
 * and neither touch nor overlap.
 */
export class IndexSet {
  readonly #ranges: readonly IndexRange[];
  readonly size: number;

  private constructor(ranges: readonly IndexRange[]) {
    this.#ranges = ranges;
    this.size = ranges.reduce((sum, [first, last]) => sum + last - first + 1, 0);
  }

  /** Parses `0,2-4,7`. Ignores malformed parts, and indexes that are not below `completions`. */
  static parse(text: string | undefined, completions: number): IndexSet {
    const ranges: IndexRange[] = [];
    for (const part of (text ?? "").split(",")) {
      const match = /^(\d+)(?:-(\d+))?$/.exec(part);
      if (match) ranges.push([Number(match[1]), Math.min(Number(match[2] ?? match[1]), completions - 1)]);
    }
    return new IndexSet(merged(ranges));
  }

  static of(indexes: Iterable<number>): IndexSet {
    return new IndexSet(merged([...indexes].map((index): IndexRange => [index, index])));
  }

  has(index: number): boolean {
    return this.#rangeOf(index) !== undefined;
  }

  /** The first index at or after `index` that is not in the set. */
  nextAbsent(index: number): number {
    const range = this.#rangeOf(index);
    return range ? range[1] + 1 : index;
  }

  union(other: IndexSet): IndexSet {
    return new IndexSet(merged([...this.#ranges, ...other.#ranges]));
  }

  /** The number of indexes in both sets. */
  sharedSize(other: IndexSet): number {
    let shared = 0;
    let at = 0;
    for (const [first, last] of this.#ranges) {
      while (at < other.#ranges.length && other.#ranges[at]![1] < first) at++;
      for (let next = at; next < other.#ranges.length && other.#ranges[next]![0] <= last; next++) {
        const range = other.#ranges[next]!;
        shared += Math.min(last, range[1]) - Math.max(first, range[0]) + 1;
      }
    }
    return shared;
  }

  /** In the format of a Job's status: `0,2-4,7`, with two adjacent indexes as `2,3`. */
  toString(): string {
    return this.#ranges
      .map(([first, last]) => (first === last ? `${first}` : `${first}${last === first + 1 ? "," : "-"}${last}`))
      .join(",");
  }

  #rangeOf(index: number): IndexRange | undefined {
    let low = 0;
    let high = this.#ranges.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#ranges[middle]![1] < index) low = middle + 1;
      else high = middle;
    }
    const range = this.#ranges[low];
    return range && range[0] <= index ? range : undefined;
  }
}

/** First and last index, inclusive. */
type IndexRange = readonly [number, number];

function merged(ranges: readonly IndexRange[]): readonly IndexRange[] {
  const result: [number, number][] = [];
  for (const [first, last] of ranges.filter(([from, to]) => from <= to).sort((left, right) => left[0] - right[0])) {
    const before = result.at(-1);
    if (before && first <= before[1] + 1) before[1] = Math.max(before[1], last);
    else result.push([first, last]);
  }
  return result;
}
