import { area } from "../../case.js";
import type { Body, Session } from "../../session.js";
import { readyStatus, statusesOf } from "./transitions.js";

const jobs = (s: Session): string => `/apis/batch/v1/namespaces/${s.namespace}/jobs`;
const pods = (s: Session): string => `/api/v1/namespaces/${s.namespace}/pods`;
const template = { spec: { restartPolicy: "Never", containers: [{ name: "main", image: "work" }] } };

const create = async (s: Session, spec: object): Promise<void> => {
  const { body, status } = await s.post(
    jobs(s),
    { metadata: { name: "a" }, spec: { template, ...spec } },
    { silent: true },
  );
  if (status !== 201) s.note("refused", body);
};

/** The unfinished pods of the job, by index or age. */
const living = async (s: Session, count: number): Promise<readonly Body[]> => {
  const path = `${pods(s)}?labelSelector=job-name%3Da`;
  const alive = (items: readonly Body[]): readonly Body[] =>
    items.filter((pod) => !/Succeeded|Failed/.test(pod.status.phase) && !pod.metadata.deletionTimestamp);
  const reply = await s.until(path, ({ body }) => alive(body.items ?? []).length === count);
  const index = (pod: Body): string => pod.metadata.annotations?.["batch.kubernetes.io/job-completion-index"] ?? "";
  return [...alive(reply.body.items ?? [])].sort((left, right) => (index(left) < index(right) ? -1 : 1));
};

const end = async (s: Session, pod: Body, exitCode = 0): Promise<void> => {
  const finishedAt = new Date().toISOString().replace(/\.\d+/, "");
  const state = { terminated: { exitCode, finishedAt, startedAt: finishedAt, containerID: "x", reason: "Done" } };
  const main = { name: "main", ready: false, restartCount: 0, image: "work", imageID: "", state };
  const status = { phase: exitCode === 0 ? "Succeeded" : "Failed", containerStatuses: [main] };
  await s.patch("merge", `${pods(s)}/${pod.metadata.name}/status`, { status }, { silent: true });
};

const isOver = (job: Body): boolean =>
  job.status?.conditions?.some((each: Body) => /^(Complete|Failed)$/.test(each.type) && each.status === "True") ??
  false;

export const jobCases = area("jobs", {
  "a pod that succeeds": async (s) => {
    await using seen = await statusesOf(s, jobs(s), "a");
    await create(s, {});
    const [pod] = await living(s, 1);
    s.note("pod", { metadata: { ...pod.metadata, managedFields: undefined, name: "", resourceVersion: "" } });
    await end(s, pod);
    await seen.until(isOver);
  },
  "a pod that becomes ready first": async (s) => {
    await using seen = await statusesOf(s, jobs(s), "a");
    await create(s, {});
    const [pod] = await living(s, 1);
    await s.patch("merge", `${pods(s)}/${pod.metadata.name}/status`, readyStatus("10.1.1.1"), { silent: true });
    await seen.until((job) => job.status?.ready === 1);
    await end(s, pod);
    await seen.until(isOver);
  },
  "a failure beyond the limit": async (s) => {
    await using seen = await statusesOf(s, jobs(s), "a");
    await create(s, { backoffLimit: 0 });
    const [pod] = await living(s, 1);
    await end(s, pod, 1);
    await seen.until(isOver);
  },
  "a deadline": async (s) => {
    await using seen = await statusesOf(s, jobs(s), "a");
    await create(s, { activeDeadlineSeconds: 1 });
    await living(s, 1);
    await seen.until(isOver);
  },
  "suspended, resumed and suspended again": async (s) => {
    await using seen = await statusesOf(s, jobs(s), "a");
    const suspended = (value: string) => (job: Body) =>
      job.status?.conditions?.some((each: Body) => each.type === "Suspended" && each.status === value) ?? false;
    await create(s, { suspend: true });
    await seen.until(suspended("True"));
    await s.patch("merge", `${jobs(s)}/a`, { spec: { suspend: false } }, { silent: true });
    await living(s, 1);
    await seen.until((job) => suspended("False")(job) && job.status.active === 1);
    await s.patch("merge", `${jobs(s)}/a`, { spec: { suspend: true } }, { silent: true });
    await seen.until((job) => suspended("True")(job) && !job.status.active);
  },
  indexes: async (s) => {
    await using seen = await statusesOf(s, jobs(s), "a");
    await create(s, { completionMode: "Indexed", completions: 3, parallelism: 3 });
    const all = await living(s, 3);
    s.note(
      "hostnames",
      all.map((pod) => [pod.spec.hostname, pod.spec.containers[0].env, pod.metadata.labels]),
    );
    for (const [at, pod] of all.entries()) {
      await end(s, pod);
      await seen.until((job) => job.status?.succeeded === at + 1);
    }
    await seen.until(isOver);
  },
  "indexes with a limit of their own": async (s) => {
    await create(s, { completionMode: "Indexed", completions: 2, parallelism: 2, backoffLimitPerIndex: 0 });
    const [first, second] = await living(s, 2);
    await end(s, first, 1);
    await end(s, second);
    await s.eventually(`${jobs(s)}/a`, ({ body }) => isOver(body));
  },
  "a policy that fails the job": async (s) => {
    const rules = [{ action: "FailJob", onExitCodes: { containerName: "main", operator: "In", values: [42] } }];
    await create(s, { podFailurePolicy: { rules } });
    const [pod] = await living(s, 1);
    s.generated(pod.metadata.name);
    await end(s, pod, 42);
    await s.eventually(`${jobs(s)}/a`, ({ body }) => isOver(body));
  },
  "a policy that ignores a failure": async (s) => {
    const rules = [{ action: "Ignore", onExitCodes: { operator: "In", values: [42] } }];
    await create(s, { backoffLimit: 0, podFailurePolicy: { rules } });
    const [pod] = await living(s, 1);
    await end(s, pod, 42);
    await s.eventually(
      `${jobs(s)}/a`,
      ({ body }) => !body.status?.active && !body.status?.failed && body.status.terminating === 0,
    );
  },
  "a policy of success": async (s) => {
    const successPolicy = { rules: [{ succeededIndexes: "1" }] };
    await create(s, { completionMode: "Indexed", completions: 3, parallelism: 3, successPolicy });
    const all = await living(s, 3);
    await end(s, all[1]);
    await s.eventually(`${jobs(s)}/a`, ({ body }) => isOver(body));
  },
  "fewer at once": async (s) => {
    await create(s, { completions: 4, parallelism: 3 });
    await living(s, 3);
    await s.patch("merge", `${jobs(s)}/a`, { spec: { parallelism: 1 } }, { silent: true });
    await living(s, 1);
    await s.eventually(`${jobs(s)}/a`, ({ body }) => body.status?.active === 1 && body.status.terminating === 0);
  },
  "gone after its time": async (s) => {
    await create(s, { ttlSecondsAfterFinished: 0 });
    const [pod] = await living(s, 1);
    await end(s, pod);
    await s.eventually(`${jobs(s)}/a`, ({ status }) => status === 404);
  },
});
