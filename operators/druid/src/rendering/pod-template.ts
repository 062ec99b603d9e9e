import type { Container, PodTemplateSpec, Probe } from "setpoint/kinds/v1";
import type { Druid, DruidNode } from "../druid.js";
import { commonConfigName } from "./config-maps.js";
import type { Labels } from "./naming.js";

const COMMON_VOLUME = "common-config-volume";
const NODE_VOLUME = "nodetype-config-volume";

/** The pod template of a node group. `configSha` is in its environment, so a changed configuration rolls the pods. */
export function podTemplate(druid: Druid, node: DruidNode, group: string, labels: Labels, configSha: string) {
  const { spec } = druid;
  const sidecars = [...(spec.additionalContainer ?? []), ...(node.additionalContainer ?? [])].map((each) => {
    const { containerName, runAsInit, ...container } = each;
    return { runAsInit, container: { ...container, name: containerName } as Container };
  });
  const init = sidecars.filter(({ runAsInit }) => runAsInit).map(({ container }) => container);
  const rest = sidecars.filter(({ runAsInit }) => !runAsInit).map(({ container }) => container);
  return {
    metadata: { labels, annotations: node.podAnnotations ?? spec.podAnnotations },
    spec: {
      volumes: [
        { name: COMMON_VOLUME, configMap: { name: commonConfigName(druid.metadata.name) } },
        { name: NODE_VOLUME, configMap: { name: `${group}-config` } },
        ...(spec.volumes ?? []),
        ...(node.volumes ?? []),
      ],
      initContainers: init.length > 0 ? init : undefined,
      containers: [mainContainer(druid, node, group, configSha), ...rest],
      terminationGracePeriodSeconds: node.terminationGracePeriodSeconds,
      dnsPolicy: (node.dnsPolicy || spec.dnsPolicy || undefined) as never,
      nodeSelector: node.nodeSelector ?? spec.nodeSelector,
      serviceAccountName: node.serviceAccountName || spec.serviceAccount || undefined,
      securityContext: node.securityContext ?? spec.securityContext,
      imagePullSecrets: node.imagePullSecrets ?? spec.imagePullSecrets,
      affinity: node.affinity ?? spec.affinity ?? {},
      tolerations: [...(spec.tolerations ?? []), ...(node.tolerations ?? [])],
      priorityClassName: node.priorityClassName || spec.priorityClassName || undefined,
      dnsConfig: node.dnsConfig ?? spec.dnsConfig,
      topologySpreadConstraints: node.topologySpreadConstraints,
    },
  } satisfies PodTemplateSpec;
}

function mainContainer(druid: Druid, node: DruidNode, group: string, configSha: string): Container {
  const { spec } = druid;
  return {
    name: group,
    image: node.image || spec.image,
    command: [spec.startScript || "bin/run-druid.sh", node.nodeType],
    ports: node.ports,
    envFrom: node.envFrom ?? spec.envFrom,
    env: [...(node.env ?? spec.env ?? []), { name: "configMapSHA", value: configSha }],
    resources: node.resources,
    volumeMounts: [
      { name: COMMON_VOLUME, mountPath: spec.commonConfigMountPath || "/druid/conf/druid/_common", readOnly: true },
      {
        name: NODE_VOLUME,
        mountPath: node.nodeConfigMountPath || `/druid/conf/druid/${node.nodeType}`,
        readOnly: true,
      },
      ...(spec.volumeMounts ?? []),
      ...(node.volumeMounts ?? []),
    ],
    ...probes(druid, node),
    lifecycle: node.lifecycle,
    imagePullPolicy: (node.imagePullPolicy || spec.imagePullPolicy || undefined) as Container["imagePullPolicy"],
    securityContext: node.containerSecurityContext ?? spec.containerSecurityContext,
  };
}

function probes(
  { spec }: Druid,
  node: DruidNode,
): Pick<Container, "livenessProbe" | "readinessProbe" | "startupProbe"> {
  const port = node["druid.port"];
  const { liveness, readiness, startup } = spec.defaultProbes ? defaultProbes(node.nodeType, port) : {};
  const withPort = (probe: Probe | undefined): Probe | undefined =>
    probe?.httpGet && !probe.httpGet.port ? { ...probe, httpGet: { ...probe.httpGet, port } } : probe;
  return {
    livenessProbe: withPort(node.livenessProbe ?? spec.livenessProbe ?? liveness),
    readinessProbe: withPort(node.readinessProbe ?? spec.readinessProbe ?? readiness),
    startupProbe: withPort(node.startUpProbe ?? spec.startUpProbe ?? startup),
  };
}

function defaultProbes(nodeType: string, port: number): Readonly<Record<"liveness" | "readiness" | "startup", Probe>> {
  const get = (path: string, failureThreshold: number): Probe => ({
    httpGet: { path, port },
    initialDelaySeconds: 5,
    timeoutSeconds: 5,
    periodSeconds: 10,
    successThreshold: 1,
    failureThreshold,
  });
  const health = get("/status/health", 10);
  if (nodeType !== "broker" && nodeType !== "historical")
    return { liveness: health, readiness: health, startup: health };
  const readiness = get(`/druid/${nodeType}/v1/readiness`, 20);
  // A historical reads its segment cache before it becomes ready.
  const slow = { initialDelaySeconds: 180, periodSeconds: 30, timeoutSeconds: 10 };
  return { liveness: health, readiness, startup: nodeType === "historical" ? { ...readiness, ...slow } : readiness };
}
