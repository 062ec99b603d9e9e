import { Buffer } from "node:buffer";
import type { OnReadOpts } from "node:net";

const ARENA_BYTES = 64 * 1024;
/** A TLS record holds no more; with less room than that left, a new arena is begun. */
const LEAST_ROOM_BYTES = 16 * 1024;

/** Takes what was read; returns whether something of it is still needed. */
export type OnBytes = (bytes: Buffer) => boolean;

/**
 * The memory that a socket reads into, one piece after another; a piece that is not needed any more is read into again.
 * A read costs no allocation and none of a stream's machinery: on a large watch that is a third of the time.
 */
export function readInto(onBytes: OnBytes): OnReadOpts {
  let arena = Buffer.allocUnsafeSlow(ARENA_BYTES);
  let used = 0;
  return {
    buffer: () => {
      if (used === 0) return arena;
      if (arena.length - used < LEAST_ROOM_BYTES) arena = Buffer.allocUnsafeSlow(ARENA_BYTES);
      else arena = arena.subarray(used);
      used = 0;
      return arena;
    },
    callback: (length, bytes) => {
      if (onBytes((bytes as Buffer).subarray(0, length))) used = length;
      return true;
    },
  };
}
