import { parseTime } from "setpoint/kinds";
import type { CronJob } from "setpoint/kinds/batch/v1";
import type { Schedule } from "./schedule.js";

/** The controller reports more missed starts than this. */
const MANY = 100;

export interface DueTimes {
  /** The latest start that is due and not made. */
  readonly dueMs: number | undefined;
  readonly isManyMissed: boolean;
  /** When to check again. Undefined if the schedule names a date that does not exist. */
  readonly nextMs: number | undefined;
}

/** The starts that a schedule asks for now. Only the latest of several missed starts is made. */
export function dueTimes({ metadata, spec, status }: CronJob, schedule: Schedule, nowMs: number): DueTimes {
  const deadlineSeconds = spec?.startingDeadlineSeconds;
  const lastMs = parseTime(status?.lastScheduleTime ?? metadata.creationTimestamp!);
  const windowMs = deadlineSeconds === undefined ? lastMs : Math.max(lastMs, nowMs - deadlineSeconds * 1_000);
  const firstMs = schedule(windowMs);
  const nextMs = schedule(nowMs);
  if (firstMs === undefined || firstMs > nowMs) return { dueMs: undefined, isManyMissed: false, nextMs };
  const secondMs = schedule(firstMs);
  if (secondMs === undefined || secondMs > nowMs) return { dueMs: firstMs, isManyMissed: false, nextMs };
  const intervalMs = secondMs - firstMs;
  const missed = Math.floor((nowMs - firstMs) / intervalMs) + 1;
  let dueMs = firstMs;
  let atMs = schedule(firstMs + (missed - 2) * intervalMs);
  while (atMs !== undefined && atMs <= nowMs) {
    dueMs = atMs;
    atMs = schedule(atMs);
  }
  return { dueMs, isManyMissed: missed > MANY, nextMs };
}
