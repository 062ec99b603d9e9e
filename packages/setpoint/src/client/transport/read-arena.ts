import { Buffer } from "node:buffer";
import type { OnReadOpts } from "node:net";

const ARENA_BYTES = 64 * 1024;
/** A TLS record is not larger than this; with less room left, a new arena begins. */
const LEAST_ROOM_BYTES = 16 * 1024;

/** Processes what was read; returns whether it keeps a part of the bytes. */
export type OnBytes = (bytes: Buffer) => boolean;

/**
 * The memory that a socket reads into, piece after piece. A piece that is not kept is reused. A read then needs no
 * allocation and no stream, which saves a third of the time on a large watch.
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
