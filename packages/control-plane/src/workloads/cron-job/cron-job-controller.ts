import {
  type Controller,
  controller,
  isAlreadyExists,
  isNotFound,
  type NewObject,
  requeueAfter,
  scoped,
} from "setpoint";
import { formatTime, parseTime } from "setpoint/kinds";
import { CronJob, Job } from "setpoint/kinds/batch/v1";
import type { ObjectReference } from "setpoint/kinds/v1";
import { BY_CONTROLLER, CLAIM_INDEXES, controllerOf, controllerReference } from "../owner-claims.js";
import { wholeStatus } from "../status-change.js";
import type { WorkloadEnvironment } from "../workloads.js";
import { dueTimes } from "./due-times.js";
import { parseSchedule, type Schedule } from "./schedule.js";
import { formatInZone } from "./time-zone.js";

const SCHEDULED = "batch.kubernetes.io/cronjob-scheduled-timestamp";
/** The controller requeues this long after the next start, so that the start is due by then. */
const LATE_MS = 100;

/** Creates a Job at each scheduled time. The Job's name contains that time, so no start happens twice. */
export function cronJobController({ clock }: WorkloadEnvironment): Controller<CronJob> {
  return controller(CronJob, {
    name: "cronjobs",
    uses: [
      CronJob,
      scoped(Job, {
        namespaces: "all",
        indexes: { [BY_CONTROLLER]: CLAIM_INDEXES[BY_CONTROLLER] },
        writes: ["create", "delete"],
      }),
    ],
    fieldManager: "kube-controller-manager",
    retry: { attempts: Number.MAX_SAFE_INTEGER },
    async reconcile(cronJob, ctx) {
      const { namespace = "", name, uid } = cronJob.metadata;
      const { concurrencyPolicy, suspend, startingDeadlineSeconds, timeZone = "", schedule: text } = cronJob.spec!;
      const nowMs = clock.now();
      const jobs = await ctx.byIndex(Job, { [BY_CONTROLLER]: uid });
      const state = seenJobs(cronJob, jobs);
      for (const { name, condition } of state.ended) {
        ctx.event("Normal", "SawCompletedJob", `Saw completed job: ${name}, condition: ${condition}`);
      }
      for (const name of state.unexpected) {
        ctx.event("Warning", "UnexpectedJob", `Saw a job that the controller did not create or forgot: ${name}`);
      }
      for (const missing of state.missing) {
        ctx.event("Normal", "MissingJob", `Active job went missing: ${missing}`);
      }
      let { active, lastScheduleTime } = state;
      const remove = async (job: string): Promise<void> => {
        try {
          await ctx.delete(Job, job, { namespace, propagation: "Background" });
          ctx.event("Normal", "SuccessfulDelete", `Deleted job ${job}`);
        } catch (error) {
          if (!isNotFound(error)) throw error;
        }
      };
      for (const old of expiredJobs(cronJob, jobs)) await remove(old);
      const wait = await start();
      const { lastSuccessfulTime } = state;
      const status = {
        active,
        ...(lastScheduleTime && { lastScheduleTime }),
        ...(lastSuccessfulTime && { lastSuccessfulTime }),
      };
      ctx.status(wholeStatus(cronJob.status, status) as never);
      return wait === undefined ? undefined : requeueAfter(wait);

      /** Creates the Job that is due, if any. Returns the time until the next check. */
      async function start(): Promise<number | undefined> {
        if (suspend || cronJob.metadata.deletionTimestamp) return undefined;
        let schedule: Schedule;
        try {
          schedule = parseSchedule(text, timeZone);
        } catch (error) {
          const reason = error instanceof RangeError ? "UnknownTimeZone" : "UnparseableSchedule";
          const what =
            error instanceof RangeError ? `invalid timeZone: "${timeZone}"` : `unparseable schedule: "${text}"`;
          ctx.event("Warning", reason, `${what} : ${(error as Error).message}`);
          return undefined;
        }
        const { dueMs, isManyMissed, nextMs } = dueTimes(cronJob, schedule, nowMs);
        const later = nextMs === undefined ? undefined : nextMs + LATE_MS - nowMs;
        if (dueMs === undefined) return later;
        if (isManyMissed) {
          const cure = "Set or decrease .spec.startingDeadlineSeconds or check clock skew";
          ctx.event("Warning", "TooManyMissedTimes", `too many missed start times. ${cure}`);
        }
        if (startingDeadlineSeconds !== undefined && dueMs + startingDeadlineSeconds * 1_000 < nowMs) {
          ctx.event(
            "Warning",
            "MissSchedule",
            `Missed scheduled time to start a job: ${new Date(dueMs).toUTCString()}`,
          );
          return later;
        }
        const jobName = `${name}-${Math.floor(dueMs / 60_000)}`;
        const isMade = active.some((reference) => reference.name === jobName) || lastScheduleTime === formatTime(dueMs);
        if (isMade) return later;
        if (concurrencyPolicy === "Forbid" && active.length > 0) {
          const message = "Not starting job because prior execution is running and concurrency policy is Forbid";
          ctx.event("Normal", "JobAlreadyActive", message);
          return later;
        }
        if (concurrencyPolicy === "Replace") {
          for (const reference of active) await remove(reference.name!);
          active = [];
        }
        const made = await createOnce(newJob(cronJob, jobName, formatInZone(dueMs, timeZone)));
        if (!made) return later;
        active = [...active, referenceTo(made)];
        lastScheduleTime = formatTime(dueMs);
        return later;
      }

      /**
       * Creates the Job or finds the one that an earlier run created without recording it. Undefined if another owner
       * has it.
       */
      async function createOnce(job: NewObject<Job>): Promise<Job | undefined> {
        try {
          const made = await ctx.create(Job, job);
          ctx.event("Normal", "SuccessfulCreate", `Created job ${made.metadata.name}`);
          return made;
        } catch (error) {
          if (!isAlreadyExists(error)) throw error;
          const there = await ctx.find(Job, job.metadata.name!, { namespace, cached: false });
          return there && controllerOf(there.metadata)?.uid === uid ? there : undefined;
        }
      }
    },
  });
}

interface SeenJobs {
  readonly active: readonly ObjectReference[];
  readonly ended: readonly { readonly name: string; readonly condition: string }[];
  /** Names of listed active Jobs that no longer exist. */
  readonly missing: readonly string[];
  /** Names of running Jobs that other clients created. */
  readonly unexpected: readonly string[];
  readonly lastScheduleTime: string | undefined;
  readonly lastSuccessfulTime: string | undefined;
}

function seenJobs({ status }: CronJob, jobs: readonly Job[]): SeenJobs {
  const byUid = new Map(jobs.map((job) => [job.metadata.uid, job]));
  const listed = status?.active ?? [];
  const active = listed.filter(({ uid = "" }) => byUid.has(uid) && endOf(byUid.get(uid)!) === undefined);
  const ended = listed.flatMap(({ uid = "", name = "" }) => {
    const condition = byUid.has(uid) ? endOf(byUid.get(uid)!) : undefined;
    return condition === undefined ? [] : [{ name, condition }];
  });
  const missing = listed.filter(({ uid = "" }) => !byUid.has(uid)).map(({ name = "" }) => name);
  const known = new Set(listed.map(({ uid }) => uid));
  const unexpected = jobs
    .filter((job) => !known.has(job.metadata.uid) && endOf(job) === undefined)
    .map(({ metadata }) => metadata.name);
  const times = jobs.filter((job) => endOf(job) === "Complete").map((job) => job.status?.completionTime ?? "");
  const lastSuccessfulTime = [status?.lastSuccessfulTime ?? "", ...times].sort().at(-1) || undefined;
  return { active, ended, missing, unexpected, lastScheduleTime: status?.lastScheduleTime, lastSuccessfulTime };
}

/** Finished Jobs beyond the history limits, oldest first. */
function expiredJobs({ spec }: CronJob, jobs: readonly Job[]): readonly string[] {
  const beyond = (condition: string, limit: number): readonly string[] => {
    const ended = jobs.filter((job) => endOf(job) === condition && !job.metadata.deletionTimestamp);
    const startOf = ({ status }: Job): number => (status?.startTime ? parseTime(status.startTime) : 0);
    const sorted = ended.sort((left, right) => startOf(left) - startOf(right));
    return sorted.slice(0, Math.max(0, sorted.length - limit)).map(({ metadata }) => metadata.name);
  };
  return [
    ...beyond("Complete", spec?.successfulJobsHistoryLimit ?? 3),
    ...beyond("Failed", spec?.failedJobsHistoryLimit ?? 1),
  ];
}

function endOf({ status }: Job): string | undefined {
  return status?.conditions?.find(({ type, status }) => /^(Complete|Failed)$/.test(type) && status === "True")?.type;
}

function newJob(cronJob: CronJob, name: string, scheduled: string): NewObject<Job> {
  const { metadata, spec } = cronJob.spec!.jobTemplate;
  return {
    metadata: {
      namespace: cronJob.metadata.namespace!,
      name,
      labels: { ...metadata?.labels },
      annotations: { ...metadata?.annotations, [SCHEDULED]: scheduled },
      ownerReferences: [controllerReference(CronJob, cronJob)],
    },
    ...(spec && { spec }),
  } as NewObject<Job>;
}

function referenceTo({ metadata: { name, namespace, uid, resourceVersion } }: Job): ObjectReference {
  return { kind: "Job", apiVersion: "batch/v1", name, namespace: namespace!, uid, resourceVersion };
}
