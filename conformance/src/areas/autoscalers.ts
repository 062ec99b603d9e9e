import { area } from "../case.js";
import type { Body, Session } from "../session.js";

const autoscalers = (s: Session): string => `/apis/autoscaling/v2/namespaces/${s.namespace}/horizontalpodautoscalers`;
const deployments = (s: Session): string => `/apis/apps/v1/namespaces/${s.namespace}/deployments`;
const cpu = { type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 50 } } };

const create = async (s: Session, replicas: number | undefined, spec: object = {}): Promise<void> => {
  if (replicas !== undefined) {
    const template = { metadata: { labels: { app: "a" } }, spec: { containers: [{ name: "main", image: "web" }] } };
    const body = { metadata: { name: "a" }, spec: { replicas, selector: { matchLabels: { app: "a" } }, template } };
    await s.post(deployments(s), body, { silent: true });
  }
  const scaleTargetRef = { apiVersion: "apps/v1", kind: "Deployment", name: "a" };
  const body = { metadata: { name: "a" }, spec: { scaleTargetRef, maxReplicas: 5, metrics: [cpu], ...spec } };
  const reply = await s.post(autoscalers(s), body, { silent: true });
  if (reply.status !== 201) s.note("refused", reply.body);
};

/** Conditions without what the missing metrics API of the one, and the missing annotation of the other, is called. */
const settled = async (s: Session, isDone: (status: Body) => boolean): Promise<void> => {
  const { body } = await s.until(`${autoscalers(s)}/a`, (reply) => isDone(reply.body.status ?? {}));
  const { conditions = [], currentMetrics: _, ...status } = body.status ?? {};
  const told = conditions.map((each: Body) => ({
    ...each,
    message: each.type === "ScalingActive" ? "" : each.message,
  }));
  s.note("status", { ...status, conditions: told });
};

const condition = (status: Body, type: string): Body => status.conditions?.find((each: Body) => each.type === type);

export const autoscalerCases = area("autoscalers", {
  "a target that is not there": async (s) => {
    await create(s, undefined);
    await settled(s, (status) => condition(status, "AbleToScale") !== undefined);
  },
  "a metric that nobody has": async (s) => {
    await create(s, 2);
    await settled(s, (status) => condition(status, "ScalingActive") !== undefined);
  },
  "more than the most": async (s) => {
    await create(s, 8);
    await settled(s, (status) => condition(status, "AbleToScale")?.reason === "SucceededRescale");
    const { body } = await s.get(`${deployments(s)}/a`, { silent: true });
    s.note("replicas", body.spec.replicas);
  },
  "fewer than the least": async (s) => {
    await create(s, 1, { minReplicas: 3 });
    await settled(s, (status) => condition(status, "AbleToScale")?.reason === "SucceededRescale");
    const { body } = await s.get(`${deployments(s)}/a`, { silent: true });
    s.note("replicas", body.spec.replicas);
  },
  "a target without replicas": async (s) => {
    await create(s, 0);
    await settled(s, (status) => condition(status, "ScalingActive") !== undefined);
  },
});
