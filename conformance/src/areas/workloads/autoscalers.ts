import { area } from "../../case.js";
import type { Body, Session } from "../../session.js";
import { apps, change as changeWorkload, create as createWorkload, living } from "./settled-workloads.js";

const autoscalers = (s: Session): string => `/apis/autoscaling/v2/namespaces/${s.namespace}/horizontalpodautoscalers`;
const path = (s: Session): string => `${autoscalers(s)}/a`;

/** The metrics, which each server gets in its own way. */
const GROUP = "external.metrics.k8s.io";
const API = `/apis/${GROUP}/v1beta1`;
const SERVICE = { namespace: "default", name: "external-metrics" };
const NAME = "queue";
const metric = (averageValue = "10") => ({
  type: "External",
  external: { metric: { name: NAME }, target: { type: "AverageValue", averageValue } },
});
const cpu = { type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 50 } } };

/**
 * Sets the metric of a case: the real server queries an API, which this process provides; the embedded one reads an
 * annotation.
 */
async function setMetric(s: Session, value: string): Promise<void> {
  s.hooks.serve(`${API}/namespaces/${s.namespace}/${NAME}`, () => ({
    body: {
      kind: "ExternalMetricValueList",
      apiVersion: `${GROUP}/v1beta1`,
      metadata: {},
      items: [{ metricName: NAME, metricLabels: {}, timestamp: new Date().toISOString(), value }],
    },
  }));
  const annotations = { [`simulation.setpoint.dev/metric.${NAME}`]: value };
  await s.patch("merge", path(s), { metadata: { annotations } }, { silent: true });
}

/** Makes the real server query this process for metrics. */
async function metricsApi(s: Session): Promise<void> {
  const resources = [
    { name: NAME, singularName: "", namespaced: true, kind: "ExternalMetricValueList", verbs: ["get"] },
  ];
  const url = new URL(
    s.hooks.serve(API, () => ({
      body: { kind: "APIResourceList", apiVersion: "v1", groupVersion: `${GROUP}/v1beta1`, resources },
    })),
  );
  const spec = { type: "ExternalName", externalName: "localhost", ports: [{ port: Number(url.port) }] };
  await s.post(
    `/api/v1/namespaces/${SERVICE.namespace}/services`,
    { metadata: { name: SERVICE.name }, spec },
    { silent: true },
  );
  const service = { ...SERVICE, port: Number(url.port) };
  const priorities = { groupPriorityMinimum: 100, versionPriority: 100 };
  const body = {
    metadata: { name: `v1beta1.${GROUP}` },
    spec: { group: GROUP, version: "v1beta1", insecureSkipTLSVerify: true, service, ...priorities },
  };
  const apiServices = "/apis/apiregistration.k8s.io/v1/apiservices";
  await s.post(apiServices, body, { silent: true });
  s.afterAll("metrics", async () => {
    await s.delete(`${apiServices}/${body.metadata.name}`, undefined, { silent: true });
    await s.delete(`/api/v1/namespaces/${SERVICE.namespace}/services/${SERVICE.name}`, undefined, { silent: true });
  });
}

async function create(s: Session, replicas: number | undefined, spec: object = {}): Promise<void> {
  if (replicas !== undefined) {
    await createWorkload(s, "deployments", { replicas });
    await living(s, replicas);
    await s.until(`${apps(s, "deployments")}/a`, ({ body }) => (body.status?.replicas ?? 0) === replicas);
  }
  const scaleTargetRef = { apiVersion: "apps/v1", kind: "Deployment", name: "a" };
  const body = { metadata: { name: "a" }, spec: { scaleTargetRef, maxReplicas: 8, metrics: [metric()], ...spec } };
  const reply = await s.post(autoscalers(s), body, { silent: true });
  if (reply.status !== 201) s.note("refused", reply.body);
}

/** With a metric that has a value from the first reconcile on. */
async function scaled(s: Session, replicas: number, value: string, spec: object = {}): Promise<void> {
  await metricsApi(s);
  await setMetric(s, value);
  await create(s, replicas, spec);
  await setMetric(s, value);
}

const condition = (status: Body, type: string): Body => status.conditions?.find((each: Body) => each.type === type);

/** The status, once it is as wanted; messages that name the source of metrics differ between servers. */
async function settled(s: Session, what: string, isDone: (status: Body) => boolean): Promise<Body> {
  const { body } = await s.until(path(s), (reply) => isDone(reply.body.status ?? {}));
  const { conditions = [], currentMetrics, ...status } = body.status ?? {};
  const told = conditions
    .map((each: Body) => ({ ...each, message: /^FailedGet.*Metric/.test(each.reason) ? "" : each.message }))
    .sort((left: Body, right: Body) => (left.type < right.type ? -1 : 1));
  // While the target scales, the value per replica is transient.
  s.note(what, { ...status, ...(!status.lastScaleTime && { currentMetrics }), conditions: told });
  return status;
}

const replicasAre = async (s: Session, count: number): Promise<void> => {
  const { body } = await s.until(`${apps(s, "deployments")}/a`, (reply) => reply.body.spec?.replicas === count);
  s.note("replicas", body.spec.replicas);
};

const isActive = (status: Body): boolean => condition(status, "ScalingActive")?.status === "True";
const currently = (count: number) => (status: Body) =>
  isActive(status) && status.currentReplicas === count && status.desiredReplicas === count;

const refused = async (s: Session, ...specs: readonly object[]): Promise<void> => {
  const scaleTargetRef = { apiVersion: "apps/v1", kind: "Deployment", name: "a" };
  for (const spec of specs)
    await s.post(autoscalers(s), { metadata: { name: "bad" }, spec: { scaleTargetRef, maxReplicas: 5, ...spec } });
};

/** These cases leave an API behind that others would find in discovery. */
const late = (run: (s: Session) => Promise<void>) => ({ run, late: true });

export const autoscalerCases = area("autoscalers", {
  "a target that is not there": late(async (s) => {
    await create(s, undefined, { metrics: [cpu] });
    await settled(s, "status", (status) => condition(status, "AbleToScale") !== undefined);
  }),
  "a target of a kind that is not there": late(async (s) => {
    await create(s, undefined, { scaleTargetRef: { apiVersion: "none.example/v1", kind: "None", name: "a" } });
    await settled(s, "status", (status) => condition(status, "AbleToScale") !== undefined);
  }),
  "a metric that nobody has": late(async (s) => {
    await create(s, 2, { metrics: [cpu] });
    await settled(s, "status", (status) => condition(status, "ScalingActive") !== undefined);
  }),
  "more than the most": late(async (s) => {
    await create(s, 5, { maxReplicas: 3, metrics: [cpu] });
    await replicasAre(s, 3);
  }),
  "fewer than the least": late(async (s) => {
    await create(s, 1, { minReplicas: 3, metrics: [cpu] });
    await replicasAre(s, 3);
  }),
  "a target without replicas": late(async (s) => {
    await create(s, 0, { metrics: [cpu] });
    await settled(s, "status", (status) => condition(status, "ScalingActive") !== undefined);
  }),
  "a metric that is as wanted": late(async (s) => {
    await scaled(s, 2, "20");
    await settled(s, "status", currently(2));
  }),
  "a metric that is nearly as wanted": late(async (s) => {
    await scaled(s, 2, "21900m");
    await settled(s, "status", currently(2));
  }),
  "more of it": late(async (s) => {
    await scaled(s, 2, "35");
    await replicasAre(s, 4);
    await settled(s, "status", currently(4));
  }),
  "much more of it, within the most": late(async (s) => {
    await scaled(s, 2, "300", { maxReplicas: 3 });
    await replicasAre(s, 3);
    await settled(s, "status", currently(3));
  }),
  "less of it, and no haste": late(async (s) => {
    await scaled(s, 3, "5");
    await settled(
      s,
      "status",
      (status) => isActive(status) && condition(status, "AbleToScale").reason !== "SucceededGetScale",
    );
    await replicasAre(s, 3);
  }),
  "less of it, at once": late(async (s) => {
    const behavior = { scaleDown: { stabilizationWindowSeconds: 0 } };
    await scaled(s, 4, "15", { behavior });
    await replicasAre(s, 2);
    await settled(s, "status", currently(2));
  }),
  "less of it, one at a time": late(async (s) => {
    const policies = [{ type: "Pods", value: 1, periodSeconds: 600 }];
    await scaled(s, 4, "5", { behavior: { scaleDown: { stabilizationWindowSeconds: 0, policies } } });
    await replicasAre(s, 3);
    await settled(
      s,
      "status",
      (status) => status.currentReplicas === 3 && condition(status, "ScalingLimited")?.reason === "ScaleDownLimit",
    );
  }),
  "more of it, by a share": late(async (s) => {
    const policies = [{ type: "Percent", value: 50, periodSeconds: 600 }];
    await scaled(s, 2, "80", { behavior: { scaleUp: { policies } } });
    await replicasAre(s, 3);
    await settled(
      s,
      "status",
      (status) => status.currentReplicas === 3 && condition(status, "ScalingLimited")?.reason === "ScaleUpLimit",
    );
  }),
  "never down": late(async (s) => {
    await scaled(s, 3, "5", { behavior: { scaleDown: { selectPolicy: "Disabled", stabilizationWindowSeconds: 0 } } });
    await settled(s, "status", (status) => isActive(status) && condition(status, "ScalingLimited") !== undefined);
    await replicasAre(s, 3);
  }),
  "a metric that changes": late(async (s) => {
    await scaled(s, 1, "10", { behavior: { scaleDown: { stabilizationWindowSeconds: 0 } } });
    await settled(s, "one", currently(1));
    await setMetric(s, "28");
    await replicasAre(s, 3);
    await settled(s, "three", currently(3));
    await setMetric(s, "12");
    await replicasAre(s, 2);
    await settled(s, "two", currently(2));
  }),
  "of two metrics the one that wants more": late(async (s) => {
    await scaled(s, 2, "35", { metrics: [metric("10"), metric("5")] });
    await replicasAre(s, 7);
  }),
  "a target that somebody else scales": late(async (s) => {
    await scaled(s, 2, "20");
    await settled(s, "two", currently(2));
    await changeWorkload(s, "deployments", { spec: { replicas: 0 } });
    await setMetric(s, "21");
    await settled(s, "none", (status) => condition(status, "ScalingActive")?.reason === "ScalingDisabled");
  }),
  "bounds that cannot be": (s) =>
    refused(
      s,
      { maxReplicas: 0 },
      { minReplicas: -1 },
      { minReplicas: 0 },
      { minReplicas: 6 },
      { scaleTargetRef: { kind: "", name: "" } },
      { scaleTargetRef: { kind: "a/b", name: "c%d" } },
    ),
  "metrics that cannot be": (s) =>
    refused(
      s,
      { metrics: [{ type: "Resource" }] },
      { metrics: [{ type: "Whatever" }] },
      { metrics: [{ type: "Resource", resource: { name: "cpu", target: { type: "Utilization" } } }] },
      { metrics: [{ type: "Resource", resource: { name: "", target: { type: "AverageValue", averageValue: "0" } } }] },
      {
        metrics: [
          { type: "Pods", pods: { metric: { name: "" }, target: { type: "AverageValue", averageValue: "1" } } },
        ],
      },
      { metrics: [{ type: "External", external: { metric: { name: "a" }, target: { type: "Value" } } }] },
      {
        metrics: [
          {
            type: "Object",
            object: {
              metric: { name: "a" },
              describedObject: { kind: "", name: "" },
              target: { type: "Value", value: "1" },
            },
          },
        ],
      },
    ),
  "behaviours that cannot be": (s) =>
    refused(
      s,
      { behavior: { scaleUp: { stabilizationWindowSeconds: 4000 } } },
      { behavior: { scaleDown: { stabilizationWindowSeconds: -1 } } },
      { behavior: { scaleUp: { selectPolicy: "Some" } } },
      { behavior: { scaleUp: { policies: [{ type: "Pods", value: 0, periodSeconds: 0 }] } } },
      { behavior: { scaleUp: { policies: [{ type: "Some", value: 1, periodSeconds: 1801 }] } } },
    ),
});
