import { nextCron, parseCron } from "./cron.js";
import type { RefreshSchedule } from "./model-spec.js";

/**
 * The time at which the schedule next makes a model due, counted from when its table was built. Times that were missed
 * while no process ran count once. Undefined without a schedule.
 */
export function dueAt({ cron, everyMs, timeZone }: RefreshSchedule, builtOn: number): number | undefined {
  const times = [
    ...(cron === undefined ? [] : [nextCron(parseCron(cron), builtOn, timeZone)]),
    ...(everyMs === undefined || everyMs <= 0 ? [] : [builtOn + everyMs]),
  ].filter((time) => time !== undefined);
  return times.length === 0 ? undefined : Math.min(...times);
}
