import { openSync, readSync } from "node:fs";

/**
 * The maximum processor time of one turn of this thread's event loop, in milliseconds: unlike request durations, it
 * does not depend on other load of the machine. Undefined if the system does not report it.
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
