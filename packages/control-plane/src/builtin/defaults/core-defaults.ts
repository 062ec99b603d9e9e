import { isObject, type Json, type JsonObject } from "../../api/json.js";
import {
  all,
  type Defaulter,
  each,
  firstOf,
  nullWhereEmpty,
  when,
  whereAbsent,
  whereEmpty,
  within,
  without,
} from "./defaulter.js";

const COMPONENT = "[a-z0-9]+(?:(?:\\.|_|__|-+)[a-z0-9]+)*";
const DOMAIN =
  "(?:[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?(?:\\.[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?)*|\\[[a-fA-F0-9:]+\\])(?::[0-9]+)?";
const REFERENCE = new RegExp(
  `^(?:${DOMAIN}/)?${COMPONENT}(?:/${COMPONENT})*(?::(?<tag>[\\w][\\w.-]{0,127}))?(?<digest>@[A-Za-z][\\w+.-]*:[0-9a-fA-F]{32,})?$`,
);
const MAX_NAME = 255;

/** Whether an image has the tag `latest`, which is implied without tag and digest. False for an invalid reference. */
function isLatest(image: Json | undefined): boolean {
  if (typeof image !== "string") return false;
  const { tag, digest } = REFERENCE.exec(image.slice(0, 4096))?.groups ?? { tag: "" };
  if (image.replace(/(:[\w.-]+)?(@.*)?$/, "").length > MAX_NAME) return false;
  return tag === undefined ? digest === undefined : tag === "latest";
}

const pullPolicy =
  (key: string, imageKey: string): Defaulter =>
  (object) =>
    object[key] ? object : { ...object, [key]: isLatest(object[imageKey]) ? "Always" : "IfNotPresent" };

/** Stop signals are a disabled feature. A lifecycle without anything else is dropped. */
const withoutStopSignal: Defaulter = (object) => {
  if (!isObject(object.lifecycle) || object.lifecycle.stopSignal === undefined) return object;
  const { stopSignal: _signal, ...lifecycle } = object.lifecycle;
  const { lifecycle: _lifecycle, ...rest } = object;
  return Object.keys(lifecycle).length === 0 ? rest : { ...rest, lifecycle };
};

const container = all(
  withoutStopSignal,
  pullPolicy("imagePullPolicy", "image"),
  whereEmpty({ terminationMessagePath: "/dev/termination-log", terminationMessagePolicy: "File" }),
);

/** A limit without a request implies an equal request. */
const requestsFromLimits = within("resources", (resources) => {
  const { limits, requests } = resources;
  if (!isObject(limits)) return resources;
  return { ...resources, requests: { ...limits, ...(isObject(requests) ? requests : {}) } };
});

const hostPorts = each("ports", (port) => (port.hostPort ? port : { ...port, hostPort: port.containerPort ?? 0 }));
const ofContainers = (defaulter: Defaulter): Defaulter =>
  all(each("containers", defaulter), each("initContainers", defaulter));

const pod = within(
  "spec",
  all(
    ofContainers(requestsFromLimits),
    whereAbsent({ enableServiceLinks: true }),
    when(
      ({ terminationGracePeriodSeconds: seconds }) => Number(seconds) < 0,
      (spec) => ({ ...spec, terminationGracePeriodSeconds: 1 }),
    ),
    when((spec) => spec.hostNetwork === true, ofContainers(hostPorts)),
  ),
  true,
);

const VOLUME_NAME_FIELDS = new Set(["name"]);

/** A volume with only a name is an emptyDir. */
const volume: Defaulter = (object) => {
  const sources = Object.keys(object).filter((key) => !VOLUME_NAME_FIELDS.has(key) && object[key] !== null);
  const filled = sources.length === 0 ? { ...object, emptyDir: {} } : object;
  return within("image", pullPolicy("pullPolicy", "reference"))(filled);
};

const DEFAULT_MODE = whereAbsent({ defaultMode: 420 });
const isExternal = (spec: JsonObject): boolean =>
  spec.type === "NodePort" ||
  spec.type === "LoadBalancer" ||
  (spec.type === "ClusterIP" && Array.isArray(spec.externalIPs) && spec.externalIPs.length > 0);
const hasClusterIp = (spec: JsonObject): boolean =>
  ["NodePort", "LoadBalancer", "ClusterIP"].includes(String(spec.type));

const sessionAffinity: Defaulter = (spec) => {
  const { sessionAffinityConfig, ...rest } = spec;
  if (spec.sessionAffinity === "None") return rest;
  if (spec.sessionAffinity !== "ClientIP") return spec;
  const clientIp = isObject(sessionAffinityConfig) ? sessionAffinityConfig.clientIP : undefined;
  if (isObject(clientIp) && typeof clientIp.timeoutSeconds === "number") return spec;
  return { ...rest, sessionAffinityConfig: { clientIP: { timeoutSeconds: 10_800 } } };
};

const service = within(
  "spec",
  all(
    whereEmpty({ sessionAffinity: "None", type: "ClusterIP" }),
    sessionAffinity,
    each("ports", (port) => all(whereEmpty({ protocol: "TCP" }), whereEmpty({ targetPort: port.port ?? 0 }))(port)),
    when(isExternal, whereEmpty({ externalTrafficPolicy: "Cluster" })),
    when(hasClusterIp, whereAbsent({ internalTrafficPolicy: "Cluster" })),
    when((spec) => spec.type === "LoadBalancer", whereAbsent({ allocateLoadBalancerNodePorts: true })),
  ),
  true,
);

/** A Container limit defaults to the maximum. A default request defaults to the limit, otherwise to the minimum. */
const limitRangeItem = when(
  (item) => item.type === "Container",
  (item) => {
    const { max, min } = item;
    const limits = { ...(isObject(max) ? max : {}), ...(isObject(item.default) ? item.default : {}) };
    const requests = {
      ...(isObject(min) ? min : {}),
      ...limits,
      ...(isObject(item.defaultRequest) ? item.defaultRequest : {}),
    };
    return {
      ...item,
      ...(Object.keys(limits).length > 0 && { default: limits }),
      ...(Object.keys(requests).length > 0 && { defaultRequest: requests }),
    };
  },
);

/** A ReplicationController without selector or labels takes those of its template. */
const replicationController: Defaulter = (object) => {
  const spec = isObject(object.spec) ? object.spec : {};
  const template =
    isObject(spec.template) && isObject(spec.template.metadata) ? spec.template.metadata.labels : undefined;
  if (!isObject(template)) return object;
  const metadata = isObject(object.metadata) ? object.metadata : {};
  return {
    ...object,
    ...(isEmpty(metadata.labels) && { metadata: { ...metadata, labels: template } }),
    ...(isEmpty(spec.selector) && { spec: { ...spec, selector: template } }),
  };
};

function isEmpty(value: Json | undefined): boolean {
  return !isObject(value) || Object.keys(value).length === 0;
}

/** The deprecated `serviceAccount` mirrors `serviceAccountName`. */
const serviceAccount: Defaulter = (spec) => {
  const name = spec.serviceAccountName || spec.serviceAccount;
  if (!name || (spec.serviceAccountName === name && spec.serviceAccount === name)) return spec;
  return { ...spec, serviceAccountName: name, serviceAccount: name };
};

const itself = (value: Json): Json => value;
const ipOf = (value: Json): Json => (isObject(value) ? (value.ip ?? "") : "");

/** By struct name in core/v1. */
export const coreDefaults: Readonly<Record<string, Defaulter>> = {
  Pod: pod,
  PodSpec: all(
    without("schedulingGroup"),
    serviceAccount,
    whereEmpty({ dnsPolicy: "ClusterFirst", restartPolicy: "Always", schedulerName: "default-scheduler" }),
    whereAbsent({ securityContext: {}, terminationGracePeriodSeconds: 30 }),
  ),
  Container: container,
  EphemeralContainer: container,
  Probe: whereEmpty({ timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 }),
  HTTPGetAction: whereEmpty({ path: "/", scheme: "HTTP" }),
  GRPCAction: whereAbsent({ service: "" }),
  ObjectFieldSelector: whereEmpty({ apiVersion: "v1" }),
  Volume: volume,
  SecretVolumeSource: DEFAULT_MODE,
  ConfigMapVolumeSource: DEFAULT_MODE,
  DownwardAPIVolumeSource: DEFAULT_MODE,
  ProjectedVolumeSource: all(DEFAULT_MODE, nullWhereEmpty("sources")),
  ContainerImage: nullWhereEmpty("names"),
  HostPathVolumeSource: whereAbsent({ type: "" }),
  VolumeProjection: without("podCertificate"),
  ServiceAccountTokenProjection: whereAbsent({ expirationSeconds: 3600 }),
  Service: service,
  PersistentVolume: all(
    within(
      "spec",
      all(whereEmpty({ persistentVolumeReclaimPolicy: "Retain" }), whereAbsent({ volumeMode: "Filesystem" })),
      true,
    ),
    within("status", whereEmpty({ phase: "Pending" }), true),
  ),
  PersistentVolumeClaim: within("status", whereEmpty({ phase: "Pending" }), true),
  PersistentVolumeClaimSpec: whereAbsent({ volumeMode: "Filesystem" }),
  EndpointPort: whereEmpty({ protocol: "TCP" }),
  NamespaceStatus: whereEmpty({ phase: "Active" }),
  NodeStatus: all(
    without("config"),
    when(
      (status) => isObject(status.capacity),
      (status) => whereAbsent({ allocatable: status.capacity ?? {} })(status),
    ),
  ),
  NodeSpec: all(without("configSource"), firstOf("podCIDR", "podCIDRs", itself, itself)),
  PodStatus: firstOf("podIP", "podIPs", (ip) => ({ ip }), ipOf),
  ServiceAccount: each("secrets", ({ name }): JsonObject => (name === undefined ? {} : { name })),
  LimitRangeSpec: nullWhereEmpty("limits"),
  LimitRangeItem: limitRangeItem,
  ReplicationController: replicationController,
};
