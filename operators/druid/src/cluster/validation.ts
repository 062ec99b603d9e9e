import type { Druid, DruidNode } from "../druid.js";
import { dependencyProblems } from "../rendering/config-maps.js";
import { GoJson } from "../rendering/go-json.js";
import { groupName, serviceName } from "../rendering/naming.js";
import { parseProperties } from "../rendering/properties.js";
import { differing } from "./difference.js";
import { DEFAULT_SETTINGS, readSetting, settingAnnotation } from "./settings.js";

export interface Problem {
  readonly path: string;
  readonly message: string;
}

const LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const SERVICE = /^[a-z]([-a-z0-9]*[a-z0-9])?$/;
/** The pod label controller-revision-hash (at most 63 characters) appends 11 characters to the StatefulSet's name. */
const MAX_STATEFUL_SET = 52;
const MAX_NAME = 63;
/** Node types that have a dynamic configuration. */
const CONFIGURABLE = ["coordinator", "overlord", "middleManager", "indexer"];

/** Go types of embedded Kubernetes fields, whose contents our schema leaves open. */
const NATIVE: Readonly<Record<string, string>> = {
  additionalContainer: "[Container",
  affinity: "Affinity",
  containerSecurityContext: "SecurityContext",
  dnsConfig: "PodDNSConfig",
  env: "[EnvVar",
  envFrom: "[EnvFromSource",
  hpAutoscaler: "AutoscalingHorizontalPodAutoscalerSpec",
  imagePullSecrets: "[LocalObjectReference",
  ingress: "IngressSpec",
  lifecycle: "Lifecycle",
  livenessProbe: "Probe",
  persistentVolumeClaim: "[PersistentVolumeClaim",
  podDisruptionBudgetSpec: "PodDisruptionBudgetSpec",
  ports: "[ContainerPort",
  readinessProbe: "Probe",
  resources: "ResourceRequirements",
  securityContext: "PodSecurityContext",
  services: "[Service",
  startUpProbe: "Probe",
  tolerations: "[Toleration",
  topologySpreadConstraints: "[TopologySpreadConstraint",
  updateStrategy: "StatefulSetUpdateStrategy",
  volumeClaimTemplates: "[PersistentVolumeClaim",
  volumeMounts: "[VolumeMount",
  volumes: "[Volume",
};

/** All problems of a Druid object, each with the path of its field. Pure. */
export function validate(druid: Druid, go = new GoJson()): readonly Problem[] {
  const { spec } = druid;
  const native = (given: object, at: string): readonly Problem[] =>
    Object.entries(given).flatMap(([field, value]) =>
      NATIVE[field] ? go.problems(value, NATIVE[field], `${at}.${field}`) : [],
    );
  const mistyped = [
    ...native(spec, "spec"),
    ...Object.entries(spec.nodes).flatMap(([key, node]) => native(node, `spec.nodes.${key}`)),
  ];
  // The checks below read these fields and rely on their types.
  if (mistyped.length > 0) return mistyped;
  return [
    ...Object.keys(spec.nodes)
      .sort()
      .flatMap((key) => nodeProblems(druid, key, spec.nodes[key]!)),
    ...dependencyProblems(druid),
    ...propertiesProblems('spec["common.runtime.properties"]', spec["common.runtime.properties"]),
    ...jsonProblems('spec["metricDimensions.json"]', spec["metricDimensions.json"]),
    ...authProblems(spec.auth),
    ...dynamicProblems(druid),
    ...settingProblems(druid),
  ];
}

/** Fields that have no effect. They are reported as events and do not stop the rollout. */
export function notices({ spec }: Druid): readonly Problem[] {
  const groups = Object.entries(spec.nodes);
  const isOrdered = ({ podManagementPolicy }: { podManagementPolicy: string }) =>
    podManagementPolicy === "OrderedReady";
  const isAll = (is: (node: DruidNode) => unknown): boolean => groups.every(([, node]) => is(node));
  const isDeployment = ({ kind }: DruidNode): boolean => kind === "Deployment";
  const found: (readonly [unknown, string, string])[] = [
    [
      isOrdered(spec) && isAll((node) => !isOrdered(node)),
      "spec.podManagementPolicy",
      "each group has its own policy, which is Parallel unless it says otherwise",
    ],
    [spec.updateStrategy && isAll(isDeployment), "spec.updateStrategy", "it is of StatefulSets, and there are none"],
    [
      spec.volumeClaimTemplates?.length && isAll(isDeployment),
      "spec.volumeClaimTemplates",
      "a Deployment has no claims of its own",
    ],
  ];
  for (const [key, node] of groups) {
    const at = `spec.nodes.${key}`;
    found.push([node.ingressAnnotations && !node.ingress, `${at}.ingressAnnotations`, "the group has no ingress"]);
    if (isDeployment(node)) {
      const cure = "a Deployment is updated as maxSurge and maxUnavailable say";
      found.push(
        [node.volumeClaimTemplates?.length, `${at}.volumeClaimTemplates`, "a Deployment has no claims of its own"],
        [node.updateStrategy, `${at}.updateStrategy`, cure],
        [isOrdered(node), `${at}.podManagementPolicy`, "a Deployment starts its pods in no order"],
      );
    } else {
      const { type, rollingUpdate } = node.updateStrategy ?? spec.updateStrategy ?? {};
      const isRolled = spec.rollingDeploy && type !== "OnDelete" && rollingUpdate?.partition === undefined;
      const why = "a StatefulSet has batches with rollingDeploy, and without OnDelete or a partition of its own";
      found.push(
        [node.maxSurge !== undefined, `${at}.maxSurge`, "a StatefulSet cannot surge"],
        [node.maxUnavailable !== undefined && !isRolled, `${at}.maxUnavailable`, why],
      );
    }
  }
  return found.flatMap(([is, path, why]) => (is ? [{ path, message: `has no effect: ${why}` }] : []));
}

function nodeProblems(druid: Druid, key: string, node: DruidNode): readonly Problem[] {
  const { spec, metadata } = druid;
  const at = `spec.nodes.${key}`;
  const problems: Problem[] = [];
  const add = (path: string, message: string): void =>
    void problems.push({ path: path ? `${at}.${path}` : at, message });
  const name = groupName(metadata.name, key);
  const limit = node.kind === "Deployment" ? MAX_NAME : MAX_STATEFUL_SET;
  if (!LABEL.test(key)) add("", `the key "${key}" must be lower-case letters, digits and dashes`);
  else if (name.length > limit)
    add("", `the name ${name} has ${name.length} characters, of ${limit} that a ${node.kind} may have`);
  if (node.kind !== "StatefulSet" && node.kind !== "Deployment") {
    add("kind", `must be StatefulSet or Deployment, not "${node.kind}"`);
  }
  if (!["Parallel", "OrderedReady"].includes(node.podManagementPolicy)) {
    add("podManagementPolicy", `must be Parallel or OrderedReady, not "${node.podManagementPolicy}"`);
  }
  const { "druid.port": main } = node;
  if (main < 1 || main > 65_535)
    problems.push({ path: `${at}["druid.port"]`, message: `must be from 1 to 65535, not ${main}` });
  if (!node.image && !spec.image) add("image", "Image missing from Druid Cluster Spec");
  const containers = [
    name,
    ...[...(spec.additionalContainer ?? []), ...(node.additionalContainer ?? [])].map((each) => each.containerName),
  ];
  for (const twice of duplicates(containers)) {
    add("additionalContainer", `node group ${node.nodeType} has duplicate container name: ${twice}`);
  }
  if (node.kind === "StatefulSet") {
    for (const [index, claim] of (node.volumeClaimTemplates ?? []).entries()) {
      if (claim.spec?.storageClassName) continue;
      const what = `node group ${node.nodeType} has volume claim template without storage class which is not allowed`;
      add(`volumeClaimTemplates[${index}].spec.storageClassName`, `${what}: ${claim.metadata?.name ?? ""}`);
    }
  }
  const ports = [...(node.ports ?? []), { name: "druid-port", containerPort: node["druid.port"] }];
  const numbers = ports.map((port) => `${port.containerPort}/${"protocol" in port ? (port.protocol ?? "TCP") : "TCP"}`);
  for (const twice of duplicates(numbers)) add("ports", `port ${twice} appears twice; druid.port needs no entry`);
  for (const twice of duplicates(ports.map((port) => port.name ?? ""))) add("ports", `the name ${twice} appears twice`);
  for (const twice of duplicates((node.env ?? spec.env ?? []).map((each) => each.name))) {
    add("env", `the variable ${twice} appears twice`);
  }
  const claims = (node.persistentVolumeClaim ?? []).map((claim) => claim.metadata?.name || name);
  for (const twice of duplicates(claims)) add("persistentVolumeClaim", `the name ${twice} appears twice`);
  if (node.maxSurge === 0 && node.maxUnavailable === 0) add("maxUnavailable", "must not be 0 while maxSurge is 0");
  if (node.dynamicConfig && !CONFIGURABLE.includes(node.nodeType)) {
    add(
      "dynamicConfig",
      `a ${node.nodeType} has no dynamic configuration: only coordinators, overlords and middle managers do`,
    );
  }
  problems.push(...serviceProblems(node.services ? at : "spec", node.services ?? spec.services ?? [], name));
  problems.push(...propertiesProblems(`${at}["runtime.properties"]`, node["runtime.properties"]));
  return problems;
}

function serviceProblems(at: string, services: NonNullable<DruidNode["services"]>, group: string): readonly Problem[] {
  const problems: Problem[] = [];
  const names = services.map(({ metadata }) => serviceName(metadata?.name, group));
  for (const [index, { metadata, spec }] of services.entries()) {
    const path = `${at}.services[${index}]`;
    const template = metadata?.name;
    if (template && template.split("%").length - 1 !== 1) {
      problems.push({
        path: `${path}.metadata.name`,
        message: `must have one %s, which stands for the group's name: "${template}"`,
      });
    } else if (template && !template.includes("%s")) {
      problems.push({
        path: `${path}.metadata.name`,
        message: `must have %s, which stands for the group's name: "${template}"`,
      });
    } else if (!SERVICE.test(names[index]!) || names[index]!.length > MAX_NAME) {
      const message = `"${names[index]}" is not a valid Service name: at most ${MAX_NAME} letters, digits and dashes`;
      problems.push({ path: `${path}.metadata.name`, message });
    }
    const ports = (spec?.ports ?? []).map(({ port, protocol = "TCP" }) => `${port}/${protocol}`);
    for (const twice of duplicates(ports))
      problems.push({ path: `${path}.spec.ports`, message: `port ${twice} appears twice` });
  }
  for (const twice of duplicates(names))
    problems.push({ path: `${at}.services`, message: `two have the name ${twice}` });
  return problems;
}

function authProblems(auth: Druid["spec"]["auth"]): readonly Problem[] {
  if (!auth) return [];
  if (auth.type !== "basic-auth")
    return [{ path: "spec.auth.type", message: `must be basic-auth, not "${auth.type}"` }];
  return auth.secretRef.name ? [] : [{ path: "spec.auth.secretRef.name", message: "must name a Secret" }];
}

/** Druid has one dynamic configuration for all coordinators and one for all workers, so groups must not disagree. */
function dynamicProblems({ spec }: Druid): readonly Problem[] {
  const keys = Object.keys(spec.nodes)
    .sort()
    .filter((key) => spec.nodes[key]!.dynamicConfig);
  return keys.flatMap((key, at) => {
    const { dynamicConfig, nodeType } = spec.nodes[key]!;
    const other = keys.slice(0, at).find((each) => {
      const node = spec.nodes[each]!;
      const isOfSame = (node.nodeType === "coordinator") === (nodeType === "coordinator");
      return isOfSame && differing(node.dynamicConfig, dynamicConfig).length > 0;
    });
    const message = `must be that of spec.nodes.${other}: Druid has one for both`;
    return other ? [{ path: `spec.nodes.${key}.dynamicConfig`, message }] : [];
  });
}

function settingProblems({ metadata }: Druid): readonly Problem[] {
  return (Object.keys(DEFAULT_SETTINGS) as (keyof typeof DEFAULT_SETTINGS)[]).flatMap((setting) => {
    const annotation = settingAnnotation(setting);
    const text = metadata.annotations?.[annotation];
    const path = `metadata.annotations[${annotation}]`;
    return text === undefined ? [] : caught(path, () => readSetting(setting, text));
  });
}

function propertiesProblems(path: string, text: string): readonly Problem[] {
  return caught(path, () => parseProperties(text));
}

function jsonProblems(path: string, text: string | undefined): readonly Problem[] {
  return text ? caught(path, () => JSON.parse(text)) : [];
}

function caught(path: string, read: () => unknown): readonly Problem[] {
  try {
    read();
    return [];
  } catch (error) {
    return [{ path, message: (error as Error).message }];
  }
}

function duplicates(values: readonly string[]): readonly string[] {
  return [...new Set(values.filter((value, at) => value !== "" && values.indexOf(value) !== at))];
}
