import { nextCron, parseCron } from "./cron.js";
import type { RefreshSchedule } from "./model-spec.js";

/**
 * When a model is due by its schedule, counted from when its table was built. A time that passed while nothing ran is due once.
 * Undefined without a schedule.
 */
export function dueAt({ cron, everyMs, timeZone }: RefreshSchedule, builtOn: number): number | undefined {
  const times = [
    ...(cron === undefined ? [] : [nextCron(parseCron(cron), builtOn, timeZone)]),
    ...(everyMs === undefined || everyMs <= 0 ? [] : [builtOn + everyMs]),
  ].filter((time) => time !== undefined);
  return times.length === 0 ? undefined : Math.min(...times);
}
