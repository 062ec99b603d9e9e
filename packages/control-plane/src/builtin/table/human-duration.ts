const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const YEAR = 365 * DAY;

/** A duration as kubectl shows ages: at most two units, coarser for longer durations. */
export function humanDuration(ms: number): string {
  if (ms < -SECOND) return "<invalid>";
  if (ms < 0) return "0s";
  if (ms < 2 * MINUTE) return `${Math.floor(ms / SECOND)}s`;
  const part = (unit: number, name: string): string => {
    const count = Math.floor(ms / unit);
    return count === 0 ? "" : `${count}${name}`;
  };
  const rest = (whole: number, unit: number, name: string): string => {
    const count = Math.floor((ms % whole) / unit);
    return count === 0 ? "" : `${count}${name}`;
  };
  if (ms < 10 * MINUTE) return part(MINUTE, "m") + rest(MINUTE, SECOND, "s");
  if (ms < 3 * HOUR) return part(MINUTE, "m");
  if (ms < 8 * HOUR) return part(HOUR, "h") + rest(HOUR, MINUTE, "m");
  if (ms < 48 * HOUR) return part(HOUR, "h");
  if (ms < 8 * DAY) return part(DAY, "d") + rest(DAY, HOUR, "h");
  if (ms < 2 * YEAR) return part(DAY, "d");
  if (ms < 8 * YEAR) return part(YEAR, "y") + rest(YEAR, DAY, "d");
  return part(YEAR, "y");
}

/** How long ago a timestamp was; `<unknown>` without one. */
export function ageOf(timestamp: unknown, nowMs: number): string {
  const ms = typeof timestamp === "string" ? Date.parse(timestamp) : Number.NaN;
  return Number.isNaN(ms) ? "<unknown>" : humanDuration(nowMs - ms);
}
