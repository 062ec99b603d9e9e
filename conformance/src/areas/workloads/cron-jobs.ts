import { systemClock } from "setpoint/clock";
import { area } from "../../case.js";
import type { Body, Session } from "../../session.js";
import { toldEvents } from "../protocol/told-events.js";

const cronJobs = (s: Session): string => `/apis/batch/v1/namespaces/${s.namespace}/cronjobs`;
const jobs = (s: Session): string => `/apis/batch/v1/namespaces/${s.namespace}/jobs`;
const path = (s: Session): string => `${cronJobs(s)}/a`;

/** Computed once per run, even if a new year begins meanwhile. */
const NOW = new Date(systemClock.now());
const YEAR = NOW.getUTCFullYear();
/**
 * Times long past, so that no minute that begins during a case creates another job: the nights of two days in the half
 * year that has not just begun, in January or in July.
 */
const [MONTH, YEAR_OF_MONTH] = NOW.getUTCMonth() < 6 ? [7, YEAR - 1] : [1, YEAR];
const FIRST_NIGHT = `0 0 1 ${MONTH} *`;
const SECOND_NIGHT = `0 0 2 ${MONTH} *`;
const yearsAgo = (years: number): string => `${YEAR - years}-06-01T00:00:00Z`;

const jobSpec = (spec: object = {}) => ({
  template: { spec: { restartPolicy: "Never", containers: [{ name: "main", image: "work" }] } },
  ...spec,
});

const cronJob = (spec: object = {}, name = "a") => ({
  metadata: { name },
  spec: { schedule: FIRST_NIGHT, jobTemplate: { spec: jobSpec() }, ...spec },
});

const create = async (s: Session, spec: object = {}): Promise<Body> => {
  const { body, status } = await s.post(cronJobs(s), cronJob(spec), { silent: true });
  if (status !== 201) s.note("refused", body);
  return body;
};

const change = (s: Session, spec: object) => s.patch("merge", path(s), { spec }, { silent: true });

/** A changed schedule alone is reconciled only when its next time comes; a resumed CronJob is reconciled now. */
const reschedule = async (s: Session, schedule: string): Promise<void> => {
  await change(s, { schedule, suspend: true });
  await change(s, { suspend: false });
};

/** Pretends that it last ran years ago: everything due since then is due now. */
const sleptSince = (s: Session, years = 2) =>
  s.patch("merge", `${path(s)}/status`, { status: { lastScheduleTime: yearsAgo(years) } }, { silent: true });

const list = async (s: Session, isDone: (all: readonly Body[]) => boolean): Promise<readonly Body[]> =>
  (await s.until(jobs(s), ({ body }) => isDone(body.items ?? []))).body.items;

const started = (s: Session, count: number): Promise<readonly Body[]> =>
  list(s, (all) => all.filter(({ metadata }) => !metadata.deletionTimestamp).length === count);

const status = async (s: Session, what: string, isDone: (status: Body) => boolean): Promise<void> => {
  const { body } = await s.until(path(s), (reply) => isDone(reply.body.status ?? {}));
  const active = body.status?.active?.map(({ resourceVersion: _, ...reference }: Body) => reference);
  s.note(what, { ...body.status, ...(active && { active }) });
};

const names = (all: readonly Body[]): readonly string[] => all.map(({ metadata }) => metadata.name).sort();

/** A job created by hand, as by `kubectl create job --from`. */
const byHand = async (s: Session, owner: Body, name: string, spec: object = {}): Promise<void> => {
  const { uid } = owner.metadata;
  const ownerReferences = [{ apiVersion: "batch/v1", kind: "CronJob", name: "a", uid, controller: true }];
  const annotations = { "cronjob.kubernetes.io/instantiate": "manual" };
  await s.post(jobs(s), { metadata: { name, annotations, ownerReferences }, spec: jobSpec(spec) }, { silent: true });
};

/** Without completions, so that it is complete at once. */
const NOTHING = { completions: 0, parallelism: 0 };

const refused = async (s: Session, ...specs: readonly object[]): Promise<void> => {
  for (const spec of specs) await s.post(cronJobs(s), cronJob(spec));
};

export const cronJobCases = area("cron jobs", {
  "a job that is due": async (s) => {
    const jobTemplate = {
      metadata: { labels: { team: "a" }, annotations: { note: "b" } },
      spec: jobSpec({ backoffLimit: 2 }),
    };
    await create(s, { jobTemplate });
    await sleptSince(s);
    const [{ metadata, spec }] = await started(s, 1);
    const { name, labels, annotations, ownerReferences } = metadata;
    s.note("job", { name, labels, annotations, ownerReferences, backoffLimit: spec.backoffLimit });
    await status(s, "status", ({ active }) => active?.length === 1);
    await toldEvents(s, "CronJob", "a", ["SuccessfulCreate"]);
  },
  "nothing is due yet": async (s) => {
    await create(s);
    await change(s, { successfulJobsHistoryLimit: 5 });
    s.note("jobs", names(await list(s, () => true)));
    await status(s, "status", () => true);
  },
  "suspended, then resumed": async (s) => {
    await create(s, { suspend: true });
    await sleptSince(s);
    await status(s, "suspended", ({ lastScheduleTime }) => lastScheduleTime !== undefined);
    s.note("jobs", names(await list(s, () => true)));
    await change(s, { suspend: false });
    s.note("jobs", names(await started(s, 1)));
    await status(s, "resumed", ({ active }) => active?.length === 1);
  },
  "too late to start": async (s) => {
    await create(s, { startingDeadlineSeconds: 100, schedule: SECOND_NIGHT });
    await sleptSince(s);
    await change(s, { successfulJobsHistoryLimit: 5 });
    s.note("jobs", names(await list(s, () => true)));
    await status(s, "status", ({ lastScheduleTime }) => lastScheduleTime !== undefined);
  },
  "not too late to start": async (s) => {
    await create(s, { startingDeadlineSeconds: 366 * 24 * 3600 });
    await sleptSince(s);
    s.note("jobs", names(await started(s, 1)));
    await status(s, "status", ({ active }) => active?.length === 1);
  },
  "several at once": async (s) => {
    await create(s);
    await sleptSince(s);
    await started(s, 1);
    await status(s, "one", ({ active }) => active?.length === 1);
    await reschedule(s, SECOND_NIGHT);
    s.note("jobs", names(await started(s, 2)));
    await status(s, "two", ({ active }) => active?.length === 2);
  },
  "none beside another": async (s) => {
    await create(s, { concurrencyPolicy: "Forbid" });
    await sleptSince(s);
    await started(s, 1);
    await status(s, "one", ({ active }) => active?.length === 1);
    await reschedule(s, SECOND_NIGHT);
    await toldEvents(s, "CronJob", "a", ["SuccessfulCreate", "JobAlreadyActive"]);
    s.note("jobs", names(await started(s, 1)));
    await status(s, "still one", ({ active }) => active?.length === 1);
  },
  "one instead of another": async (s) => {
    await create(s, { concurrencyPolicy: "Replace" });
    await sleptSince(s);
    const [first] = await started(s, 1);
    await status(s, "one", ({ active }) => active?.length === 1);
    await reschedule(s, SECOND_NIGHT);
    await list(s, (all) => all.length === 1 && all[0].metadata.uid !== first.metadata.uid);
    s.note("jobs", names(await started(s, 1)));
    await status(s, "another", ({ active }) => active?.length === 1 && active[0].uid !== first.metadata.uid);
    await toldEvents(s, "CronJob", "a", ["SuccessfulCreate", "SuccessfulCreate", "SuccessfulDelete"]);
  },
  "a job that completes": async (s) => {
    await create(s, { jobTemplate: { spec: jobSpec(NOTHING) } });
    await sleptSince(s);
    await started(s, 1);
    await status(s, "status", ({ active, lastSuccessfulTime }) => !active && lastSuccessfulTime);
    await toldEvents(s, "CronJob", "a", ["SuccessfulCreate", "SawCompletedJob"]);
  },
  "a job that fails": async (s) => {
    await create(s, { jobTemplate: { spec: jobSpec({ activeDeadlineSeconds: 1 }) } });
    await sleptSince(s);
    await started(s, 1);
    await toldEvents(s, "CronJob", "a", ["SuccessfulCreate", "SawCompletedJob"]);
    await status(s, "failed", ({ active }) => !active);
  },
  "an active job that is gone": async (s) => {
    await create(s);
    await sleptSince(s);
    const [{ metadata }] = await started(s, 1);
    await status(s, "one", ({ active }) => active?.length === 1);
    await s.delete(`${jobs(s)}/${metadata.name}`, { propagationPolicy: "Background" }, { silent: true });
    await status(s, "none", ({ active }) => !active);
    await toldEvents(s, "CronJob", "a", ["SuccessfulCreate", "MissingJob"]);
    s.note("jobs", names(await list(s, (all) => all.length === 0)));
  },
  "jobs beyond its history": async (s) => {
    const owner = await create(s, { successfulJobsHistoryLimit: 1 });
    for (const name of ["old-1", "old-2", "old-3"]) {
      await byHand(s, owner, name, NOTHING);
      await s.until(`${jobs(s)}/${name}`, ({ body, status: code }) => code === 404 || body.status?.completionTime);
    }
    await list(s, (all) => all.length === 1);
    s.note("count", (await list(s, (all) => all.length === 1)).length);
    await status(s, "status", ({ lastSuccessfulTime }) => lastSuccessfulTime !== undefined);
  },
  "failed jobs beyond its history": async (s) => {
    const owner = await create(s, { failedJobsHistoryLimit: 0 });
    await byHand(s, owner, "old-1", { activeDeadlineSeconds: 1 });
    s.note("jobs", names(await list(s, (all) => all.length === 0)));
    await toldEvents(s, "CronJob", "a", ["UnexpectedJob", "SuccessfulDelete"]);
  },
  "a job that is made by hand": async (s) => {
    const owner = await create(s);
    await byHand(s, owner, "hand");
    await toldEvents(s, "CronJob", "a", ["UnexpectedJob"]);
    await status(s, "status", () => true);
  },
  "a job of the name that it would use": async (s) => {
    await create(s, { suspend: true });
    const due = Date.UTC(YEAR_OF_MONTH, MONTH - 1, 1) / 60_000;
    await s.post(jobs(s), { metadata: { name: `a-${due}` }, spec: jobSpec() }, { silent: true });
    await sleptSince(s);
    await change(s, { suspend: false });
    await change(s, { successfulJobsHistoryLimit: 5 });
    s.note("jobs", names(await list(s, (all) => all.length === 1)));
    await status(s, "status", () => true);
  },
  "a time zone": async (s) => {
    await create(s, { timeZone: "Asia/Tokyo" });
    await sleptSince(s);
    const [{ metadata }] = await started(s, 1);
    s.note("job", { name: metadata.name, annotations: metadata.annotations });
    await status(s, "status", ({ active }) => active?.length === 1);
  },
  "many times that it missed": async (s) => {
    await create(s, { schedule: "0 0 1 * *" });
    await sleptSince(s, 20);
    await started(s, 1);
    await toldEvents(s, "CronJob", "a", ["TooManyMissedTimes", "SuccessfulCreate"]);
  },
  "deleted with its jobs": async (s) => {
    await create(s);
    await sleptSince(s);
    await started(s, 1);
    await s.delete(path(s), { propagationPolicy: "Background" }, { silent: true });
    s.note("jobs", names(await list(s, (all) => all.length === 0)));
    s.note("cron job", (await s.until(path(s), (reply) => reply.status === 404)).status);
  },
  "schedules that say nothing": (s) =>
    refused(
      s,
      { schedule: "" },
      { schedule: "* * * *" },
      { schedule: "61 * * * *" },
      { schedule: "a b c d e" },
      { schedule: "@yearly", timeZone: "Nowhere/Land" },
      { schedule: "TZ=Asia/Tokyo 0 0 * * *" },
      { schedule: "TZ=Asia/Tokyo 0 0 * * *", timeZone: "Asia/Tokyo" },
      { timeZone: "Local" },
      { timeZone: "" },
    ),
  "limits and policies that cannot be": (s) =>
    refused(
      s,
      { startingDeadlineSeconds: -1 },
      { successfulJobsHistoryLimit: -1, failedJobsHistoryLimit: -2 },
      { concurrencyPolicy: "Sometimes" },
      { concurrencyPolicy: "" },
    ),
  "templates that no job can have": (s) =>
    refused(
      s,
      { jobTemplate: { spec: { template: { spec: { containers: [{ name: "main", image: "work" }] } } } } },
      { jobTemplate: { spec: jobSpec({ selector: { matchLabels: { a: "b" } } }) } },
      { jobTemplate: { spec: jobSpec({ manualSelector: true }) } },
      { jobTemplate: { spec: jobSpec({ backoffLimit: -1, parallelism: -1, completions: -1 }) } },
      { jobTemplate: { spec: jobSpec({ completionMode: "Indexed" }) } },
    ),
  "a name too long for its jobs": async (s) => {
    await s.post(cronJobs(s), cronJob({}, "a".repeat(53)));
    await s.post(cronJobs(s), cronJob({}, "A"));
  },
});
