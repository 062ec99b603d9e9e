import { openSync, readSync } from "node:fs";

/**
 * How much processor time one turn of this thread's event loop takes at most, in milliseconds: unlike the time that
 * requests take, it does not depend on what else the machine does. Undefined where the system does not tell.
 */
export function longestTurn() {
  let file;
  try {
    file = openSync("/proc/thread-self/schedstat", "r");
  } catch {
    return () => undefined;
  }
  const buffer = Buffer.alloc(64);
  const usedMs = () => Number(buffer.toString("latin1", 0, readSync(file, buffer, 0, 64, 0)).split(" ")[0]) / 1e6;
  let last = usedMs();
  let longest = 0;
  const look = () => {
    const now = usedMs();
    longest = Math.max(longest, now - last);
    last = now;
    setTimeout(look, 1).unref();
  };
  look();
  return () => {
    const found = longest;
    longest = 0;
    return found;
  };
}
