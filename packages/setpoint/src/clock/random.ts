/** The only source of randomness in Setpoint (jitter, generated names, uids); seeded in tests. */
export interface Random {
  /** A number in [0, 1). */
  next(): number;
  /** `length` bytes. Those of the system's random source are safe for credentials; those of a seed are not. */
  bytes(length: number): Uint8Array;
}

/** The machine's random source; tests use `seededRandom`. */
export const systemRandom: Random = { next: () => Math.random(), bytes: pooledBytes() };

/** A system call costs 15 µs for any number of bytes: fetch many bytes at once and use each once. */
function pooledBytes(): Random["bytes"] {
  const poolBytes = 4096;
  let pool: Uint8Array = new Uint8Array();
  let used = 0;
  return (length) => {
    if (length > poolBytes / 4) return randomBytes(length);
    if (used + length > pool.length) {
      // Not a Buffer: its `slice` would be a view of the bytes that are wiped below.
      pool = new Uint8Array(randomBytes(poolBytes));
      used = 0;
    }
    const bytes = pool.slice(used, used + length);
    pool.fill(0, used, (used += length));
    return bytes;
  };
}

/** Loaded on first use: it would be a third of the import cost of this package. */
function randomBytes(length: number): Uint8Array {
  return process.getBuiltinModule("node:crypto").randomBytes(length);
}

/** A reproducible source: the same seed gives the same sequence on every platform (mulberry32). */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
  return { next, bytes: (length) => Uint8Array.from({ length }, () => Math.floor(next() * 256)) };
}

/** A duration in [base, base × (1 + factor)), as client-go's wait.Jitter. */
export function jitter(random: Random, baseMs: number, factor: number): number {
  return baseMs * (1 + factor * random.next());
}
