import type { Buffer } from "node:buffer";

/** Up to this length a loop is faster than a native copy, which needs a view of the source first. */
const LOOP_BYTES = 2048;

/** Copies `source[start, end)` to `target` at `offset`. */
export function copyBytes(source: Buffer, start: number, end: number, target: Buffer, offset: number): void {
  if (end - start > LOOP_BYTES) source.copy(target, offset, start, end);
  else for (let from = start, to = offset; from < end; ) target[to++] = source[from++]!;
}
