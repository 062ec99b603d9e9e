const MAX = 2n ** 64n - 1n;
const TWO_TO_64 = 2 ** 64;

/** A size or cost between two bounds. Sums and products saturate at the largest 64-bit number. */
export class Range {
  static readonly unknown = new Range(0n, MAX);
  static readonly zero = new Range(0n, 0n);
  static readonly one = new Range(1n, 1n);
  /** The neutral element of `union`. */
  static readonly none = new Range(MAX, 0n);
  readonly min: bigint;
  readonly max: bigint;

  constructor(min: bigint, max: bigint) {
    this.min = min;
    this.max = max;
  }

  static exactly(count: number | bigint): Range {
    return new Range(BigInt(count), BigInt(count));
  }

  plus(other: Range): Range {
    return new Range(sum(this.min, other.min), sum(this.max, other.max));
  }

  times(other: Range): Range {
    return new Range(product(this.min, other.min), product(this.max, other.max));
  }

  /** Rounds up. */
  scaled(factor: number): Range {
    return new Range(scale(this.min, factor), scale(this.max, factor));
  }

  union(other: Range): Range {
    return new Range(lesser(this.min, other.min), -lesser(-this.max, -other.max));
  }
}

function sum(a: bigint, b: bigint): bigint {
  return lesser(a + b, MAX);
}

function product(a: bigint, b: bigint): bigint {
  return lesser(a * b, MAX);
}

/** Uses floating point, as kube-apiserver does. */
function scale(count: bigint, factor: number): bigint {
  const scaled = Math.ceil(Number(count) * factor);
  return scaled >= TWO_TO_64 ? MAX : BigInt(scaled);
}

/** `Math.min` does not take bigints. */
export function lesser(a: bigint, b: bigint): bigint {
  if (a < b) return a;
  return b;
}
