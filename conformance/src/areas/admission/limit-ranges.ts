import { area } from "../../case.js";
import type { Body, Session } from "../../session.js";

const core = (s: Session, plural: string): string => `/api/v1/namespaces/${s.namespace}/${plural}`;

/** Creates a range; resolves once admission, whose cache lags, knows of it. */
const range = async (
  s: Session,
  limits: readonly object[],
  isSeen: (s: Session) => Promise<boolean>,
): Promise<void> => {
  const reply = await s.post(core(s, "limitranges"), { metadata: { name: "l" }, spec: { limits } }, { silent: true });
  s.note("range", reply.status === 201 ? reply.body.spec : reply.body);
  for (let tries = 0; tries < 400 && !(await isSeen(s)); tries++);
};

const pod = (name: string, resources: object = {}, spec: object = {}) => ({
  metadata: { name },
  spec: { containers: [{ name: "main", image: "one", resources }], ...spec },
});

/** The refusal, with sorted problems: the real server collects them from hash maps. */
const refusal = ({ message, ...body }: Body): unknown => {
  const sorted = (list: string): string =>
    list
      .split(/, (?=minimum |maximum |\S+ max )/)
      .sort()
      .join(", ");
  return { ...body, message: message.replace(/\[(.*)\]$/, (_: string, list: string) => `[${sorted(list)}]`) };
};

/** The result of a pod: its resources, or the refusal. */
const tryPod = async (s: Session, name: string, resources?: object, spec?: object): Promise<void> => {
  const { status, body } = await s.post(core(s, "pods"), pod(name, resources, spec), { silent: true });
  const shown = (containers: readonly Body[] = []): unknown => containers.map((each) => each.resources);
  const made = (): unknown => ({
    annotations: body.metadata.annotations,
    containers: shown(body.spec.containers),
    init: shown(body.spec.initContainers),
    qosClass: body.status.qosClass,
  });
  s.note(name, status === 201 ? made() : refusal(body));
};

const tryClaim = async (s: Session, name: string, storage: string): Promise<void> => {
  const spec = { accessModes: ["ReadWriteOnce"], storageClassName: "", resources: { requests: { storage } } };
  const { status, body } = await s.post(
    core(s, "persistentvolumeclaims"),
    { metadata: { name }, spec },
    { silent: true },
  );
  s.note(name, status === 201 ? status : refusal(body));
};

/** Whether a pod gets defaults, or is refused, in dry run. */
const changesPods = async (s: Session): Promise<boolean> => {
  const { status, body } = await s.post(`${core(s, "pods")}?dryRun=All`, pod("probe"), { silent: true });
  return status !== 201 || Object.keys(body.spec.containers[0].resources ?? {}).length > 0;
};
const refusesLarge = async (s: Session): Promise<boolean> => {
  const large = { requests: { cpu: "1000", memory: "1Pi" }, limits: { cpu: "100000", memory: "1Ei" } };
  return (await s.post(`${core(s, "pods")}?dryRun=All`, pod("probe", large), { silent: true })).status !== 201;
};
const refusesClaims = async (s: Session): Promise<boolean> => {
  const spec = { accessModes: ["ReadWriteOnce"], storageClassName: "", resources: { requests: { storage: "1Ei" } } };
  const body = { metadata: { name: "probe" }, spec };
  return (await s.post(`${core(s, "persistentvolumeclaims")}?dryRun=All`, body, { silent: true })).status !== 201;
};

const refused = async (s: Session, ...limits: readonly object[]): Promise<void> => {
  for (const limit of limits)
    await s.post(core(s, "limitranges"), { metadata: { name: "bad" }, spec: { limits: [limit] } });
};

export const limitRangeCases = area("limit ranges", {
  "defaults of containers": async (s) => {
    const limit = { type: "Container", default: { cpu: "1", memory: "1Gi" }, defaultRequest: { cpu: "100m" } };
    await range(s, [limit], changesPods);
    await tryPod(s, "silent");
    await tryPod(s, "limits", { limits: { cpu: "2" } });
    await tryPod(s, "requests", { requests: { cpu: "200m", memory: "1Mi" } });
    await tryPod(s, "both", { requests: { cpu: "1" }, limits: { cpu: "1", memory: "1Gi" } });
  },
  "defaults that follow from bounds": async (s) => {
    await range(s, [{ type: "Container", max: { cpu: "2", memory: "1Gi" }, min: { cpu: "100m" } }], changesPods);
    await tryPod(s, "silent");
  },
  "defaults of init containers": async (s) => {
    await range(s, [{ type: "Container", default: { cpu: "1" }, defaultRequest: { memory: "1Mi" } }], changesPods);
    await tryPod(s, "silent", {}, { initContainers: [{ name: "init", image: "one" }] });
    const containers = [
      { name: "a", image: "one" },
      { name: "b", image: "one", resources: { limits: { cpu: "2" } } },
    ];
    await tryPod(s, "two", {}, { containers });
  },
  "at least and at most": async (s) => {
    await range(
      s,
      [{ type: "Container", max: { cpu: "2", memory: "1Gi" }, min: { cpu: "100m", memory: "10Mi" } }],
      refusesLarge,
    );
    await tryPod(s, "small", { requests: { cpu: "50m" } });
    await tryPod(s, "large", { limits: { cpu: "3" } });
    await tryPod(s, "large asked", { requests: { cpu: "3" }, limits: { cpu: "3" } });
    await tryPod(s, "both wrong", { requests: { cpu: "50m", memory: "1Mi" }, limits: { cpu: "50m", memory: "2Gi" } });
    await tryPod(s, "right", { requests: { cpu: "100m", memory: "10Mi" }, limits: { cpu: "2", memory: "1Gi" } });
  },
  "how far limits are from requests": async (s) => {
    await range(s, [{ type: "Container", maxLimitRequestRatio: { cpu: "2" } }], changesPods);
    await tryPod(s, "silent");
    await tryPod(s, "no limit", { requests: { cpu: "1" } });
    await tryPod(s, "far", { requests: { cpu: "100m" }, limits: { cpu: "300m" } });
    await tryPod(s, "a little", { requests: { cpu: "300m" }, limits: { cpu: "700m" } });
    await tryPod(s, "near", { requests: { cpu: "100m" }, limits: { cpu: "200m" } });
  },
  "pods as a whole": async (s) => {
    await range(s, [{ type: "Pod", max: { cpu: "1", memory: "1Gi" }, min: { cpu: "200m" } }], changesPods);
    await tryPod(s, "silent");
    const container = (name: string, cpu: string) => ({
      name,
      image: "one",
      resources: { limits: { cpu, memory: "100Mi" } },
    });
    await tryPod(s, "much", {}, { containers: [container("a", "600m"), container("b", "600m")] });
    await tryPod(s, "little", {}, { containers: [container("a", "100m")] });
    await tryPod(s, "right", {}, { containers: [container("a", "100m"), container("b", "100m")] });
    await tryPod(s, "init", {}, { containers: [container("a", "300m")], initContainers: [container("b", "2")] });
  },
  "a ratio of pods": async (s) => {
    await range(s, [{ type: "Pod", maxLimitRequestRatio: { memory: "1.5" } }], changesPods);
    await tryPod(s, "far", { requests: { memory: "100Mi" }, limits: { memory: "200Mi" } });
    await tryPod(s, "near", { requests: { memory: "100Mi" }, limits: { memory: "150Mi" } });
  },
  claims: async (s) => {
    await range(
      s,
      [{ type: "PersistentVolumeClaim", max: { storage: "2Gi" }, min: { storage: "1Gi" } }],
      refusesClaims,
    );
    await tryClaim(s, "small", "500Mi");
    await tryClaim(s, "large", "3Gi");
    await tryClaim(s, "right", "2Gi");
  },
  "several limits": async (s) => {
    const limits = [
      { type: "Container", default: { cpu: "500m" }, max: { cpu: "1" } },
      { type: "Pod", max: { cpu: "800m" } },
    ];
    await range(s, limits, changesPods);
    await tryPod(s, "one");
    await tryPod(s, "two", {}, { containers: ["a", "b"].map((name) => ({ name, image: "one" })) });
  },
  "pods that are there already": async (s) => {
    await tryPod(s, "before", { requests: { cpu: "5" }, limits: { cpu: "5" } });
    await range(s, [{ type: "Container", max: { cpu: "1" } }], refusesLarge);
    const reply = await s.patch(
      "merge",
      `${core(s, "pods")}/before`,
      { metadata: { labels: { a: "b" } } },
      { silent: true },
    );
    s.note("changed", reply.status);
  },
  "pods that others make": async (s) => {
    await range(s, [{ type: "Container", max: { cpu: "1" }, default: { cpu: "500m" } }], changesPods);
    const containers = [{ name: "main", image: "one", resources: { limits: { cpu: "3" } } }];
    const labels = { app: "a" };
    const spec = {
      replicas: 1,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers } },
    };
    const sets = `/apis/apps/v1/namespaces/${s.namespace}/replicasets`;
    await s.post(sets, { metadata: { name: "a" }, spec }, { silent: true });
    const { body } = await s.until(`${sets}/a`, (reply) => reply.body.status?.conditions !== undefined);
    const [condition] = body.status.conditions;
    s.note("status", { ...condition, message: condition.message.replace(/"a-[^"]+"/, '"a-…"') });
  },
  "ranges that cannot be": (s) =>
    refused(
      s,
      { type: "Container", min: { cpu: "2" }, max: { cpu: "1" } },
      { type: "Container", default: { cpu: "3" }, max: { cpu: "1" } },
      { type: "Container", defaultRequest: { cpu: "2" }, default: { cpu: "1" } },
      { type: "Container", defaultRequest: { cpu: "1m" }, min: { cpu: "2m" } },
      { type: "Pod", default: { cpu: "1" } },
      { type: "PersistentVolumeClaim" },
      { type: "Container", maxLimitRequestRatio: { cpu: "0.5" } },
      { type: "Container", min: { cpu: "1" }, max: { cpu: "2" }, maxLimitRequestRatio: { cpu: "3" } },
      { type: "Container", max: { "no such": "1" } },
      { type: "Whatever", max: { cpu: "1" } },
    ),
  "two of one kind": (s) =>
    s
      .post(core(s, "limitranges"), {
        metadata: { name: "twice" },
        spec: {
          limits: [
            { type: "Pod", max: { cpu: "1" } },
            { type: "Pod", max: { cpu: "2" } },
          ],
        },
      })
      .then(() => {}),
});
