import { area } from "../../case.js";
import type { Body, Session } from "../../session.js";
import { create, living, makeReady, settled } from "./settled-workloads.js";

const budgets = (s: Session): string => `/apis/policy/v1/namespaces/${s.namespace}/poddisruptionbudgets`;
const pods = (s: Session): string => `/api/v1/namespaces/${s.namespace}/pods`;

async function budget(s: Session, spec: object): Promise<void> {
  const selector = { matchLabels: { app: "a" } };
  await s.post(budgets(s), { metadata: { name: "b" }, spec: { selector, ...spec } }, { silent: true });
}

const status = (s: Session, isDone: (status: Body) => boolean): Promise<Body> =>
  settled(
    s,
    `${budgets(s)}/b`,
    "budget",
    (object) => object.status?.observedGeneration === object.metadata.generation && isDone(object.status),
  );

async function running(s: Session, replicas: number, ready = replicas): Promise<readonly Body[]> {
  await create(s, "deployments", { replicas });
  const all = await living(s, replicas);
  await makeReady(s, all.slice(0, ready));
  return all;
}

const evict = (s: Session, { metadata }: Body, more: object = {}) =>
  s.post(`${pods(s)}/${metadata.name}/eviction`, {
    apiVersion: "policy/v1",
    kind: "Eviction",
    metadata: { name: metadata.name },
    ...more,
  });

export const disruptionBudgetCases = area("disruption budgets", {
  "at least one of two": async (s) => {
    await running(s, 2);
    await budget(s, { minAvailable: 1 });
    await status(s, ({ disruptionsAllowed }) => disruptionsAllowed === 1);
  },
  "at most one of three": async (s) => {
    await running(s, 3);
    await budget(s, { maxUnavailable: 1 });
    await status(s, ({ disruptionsAllowed }) => disruptionsAllowed === 1);
  },
  "a share that must be available": async (s) => {
    await running(s, 3);
    await budget(s, { minAvailable: "50%" });
    await status(s, ({ disruptionsAllowed }) => disruptionsAllowed === 1);
  },
  "a share that may be missing": async (s) => {
    await running(s, 4);
    await budget(s, { maxUnavailable: "30%" });
    await status(s, ({ disruptionsAllowed }) => disruptionsAllowed === 2);
  },
  "pods that are not ready": async (s) => {
    await running(s, 2, 0);
    await budget(s, { minAvailable: 1 });
    await status(s, ({ expectedPods }) => expectedPods === 2);
  },
  "no pods": async (s) => {
    await budget(s, { minAvailable: 1 });
    await status(s, ({ conditions }) => conditions?.length === 1);
  },
  "pods without a controller": async (s) => {
    const spec = { containers: [{ name: "main", image: "one" }] };
    await s.post(pods(s), { metadata: { name: "bare", labels: { app: "a" } }, spec }, { silent: true });
    await budget(s, { maxUnavailable: 1 });
    await status(s, ({ conditions }) => conditions?.length === 1);
  },
  "an eviction that it allows, and one that it does not": async (s) => {
    const [first, second] = await running(s, 2);
    await budget(s, { minAvailable: 1 });
    await s.until(`${budgets(s)}/b`, ({ body }) => body.status?.disruptionsAllowed === 1);
    await evict(s, first);
    await s.until(`${budgets(s)}/b`, ({ body }) => body.status?.disruptionsAllowed === 0);
    await evict(s, second);
  },
  "an eviction on trial": async (s) => {
    const [first] = await running(s, 2);
    await budget(s, { minAvailable: 1 });
    await s.until(`${budgets(s)}/b`, ({ body }) => body.status?.disruptionsAllowed === 1);
    await evict(s, first, { deleteOptions: { dryRun: ["All"] } });
    await status(s, ({ disruptionsAllowed }) => disruptionsAllowed === 1);
  },
  "an eviction of a pod that is not ready": async (s) => {
    const all = await running(s, 2, 1);
    await budget(s, { minAvailable: 1 });
    await s.until(`${budgets(s)}/b`, ({ body }) => body.status?.currentHealthy === 1);
    await evict(s, all[1]);
  },
  "a budget that changes": async (s) => {
    await running(s, 3);
    await budget(s, { minAvailable: 1 });
    await status(s, ({ disruptionsAllowed }) => disruptionsAllowed === 2);
    await s.patch("merge", `${budgets(s)}/b`, { spec: { minAvailable: 3 } }, { silent: true });
    await status(s, ({ disruptionsAllowed }) => disruptionsAllowed === 0);
  },
});
