import { createHash } from "node:crypto";
import { formatQuantity, parseQuantity } from "setpoint/quantity";
import { invalidSpec } from "../errors.js";
import type { Agent } from "../kinds/agent.js";
import { agentCard } from "./agent-card.js";
import type { AgentConfig } from "./agent-config.js";
import { goJson, type Json, type JsonFields, nonEmpty } from "./go-json.js";
import { secretVolume } from "./pod-additions.js";
import type { TranslateSettings } from "./settings.js";
import { hasSkills, skillsConfig, skillsVolumes } from "./skills.js";

export const CONFIG_HASH = "kagent.dev/config-hash";
const PORT = 8080;
const DEFAULT_RESOURCES = { limits: { cpu: "2", memory: "1Gi" }, requests: { cpu: "100m", memory: "384Mi" } };

/** The inputs of the rollout hash. A change of any input rolls the pods. */
export type RolloutInputs = Readonly<Record<"config" | "agentCard" | "secrets" | "sandbox" | "skills", Uint8Array>>;

export interface Manifest {
  /** Those that the agent needs of Secret, ServiceAccount, ConfigMap of skills, Deployment, Service, in this order. */
  readonly objects: readonly JsonFields[];
  readonly rolloutInputs: RolloutInputs;
}

/** kagent's pod annotation: a decimal number. */
export function rolloutHash(inputs: RolloutInputs): string {
  const hash = createHash("sha256");
  for (const name of ["config", "agentCard", "secrets", "sandbox", "skills"] as const) hash.update(inputs[name]);
  return hash.digest().readBigUInt64BE(0).toString();
}

export function buildManifest(agent: Agent, translated: AgentConfig, settings: TranslateSettings): Manifest {
  const { spec, metadata } = agent;
  const { name } = metadata;
  const deployment = deploymentOf(agent);
  const needsSandbox = needsSandboxSettings(agent);
  const config = goJson(translated.config);
  const card = goJson(agentCard(agent).compatible, 2);
  const sandbox = needsSandbox ? sandboxSettings(agent) : "";
  const withSkills = spec.skills && hasSkills(spec.skills) ? spec.skills : undefined;
  const skills = withSkills ? goJson(skillsConfig(withSkills)) : "";
  const text = new TextEncoder();
  const rolloutInputs: RolloutInputs = {
    config: text.encode(config),
    agentCard: text.encode(card),
    secrets: Buffer.concat(translated.secretHashes),
    sandbox: text.encode(sandbox),
    skills: text.encode(skills),
  };
  const labels = {
    app: "kagent",
    kagent: name,
    "app.kubernetes.io/managed-by": "kagent",
    "app.kubernetes.io/part-of": "kagent",
    "app.kubernetes.io/name": name,
    ...settings.podLabels,
    ...deployment.labels,
  };
  const inherited = settings.inheritAnnotations ? (metadata.annotations ?? {}) : {};
  const object = (apiVersion: string, kind: string, fields: JsonFields, annotations: JsonFields = {}): JsonFields => ({
    apiVersion,
    kind,
    metadata: {
      name,
      namespace: metadata.namespace,
      labels,
      annotations: nonEmpty({ ...inherited, ...annotations }),
      ownerReferences: ownerReferences(agent),
    },
    ...fields,
  });
  const selector = { app: "kagent", kagent: name };
  const serviceAccount = deployment.serviceAccountName ?? settings.serviceAccountName ?? name;
  const template = podTemplate(agent, translated, settings, serviceAccount, labels, rolloutHash(rolloutInputs));
  const secret = object("v1", "Secret", {
    stringData: { "agent-card.json": card, "config.json": config, "srt-settings.json": nonEmpty(sandbox) },
  });
  const account = object("v1", "ServiceAccount", {}, deployment.serviceAccountConfig?.annotations ?? {});
  const objects = [
    secret,
    ...(serviceAccount === name ? [withLabels(account, deployment.serviceAccountConfig?.labels ?? {})] : []),
    ...(withSkills ? [skillsConfigMap(agent, skills)] : []),
    object(
      "apps/v1",
      "Deployment",
      {
        spec: {
          replicas: deployment.replicas,
          selector: { matchLabels: selector },
          strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
          template,
        },
        status: {},
      },
      deployment.deploymentAnnotations ?? {},
    ),
    object("v1", "Service", {
      spec: { ports: [servicePort(agent)], selector, type: "ClusterIP" },
      status: { loadBalancer: {} },
    }),
  ];
  return { objects, rolloutInputs };
}

/** Whether the agent runs code that needs a sandbox: skills, code blocks, or a BYO image with `sandbox`. */
function needsSandboxSettings({ spec }: Agent): boolean {
  if (spec.type === "BYO") return spec.sandbox !== undefined;
  return spec.skills !== undefined || spec.declarative?.executeCodeBlocks === true;
}

function sandboxSettings({ spec }: Agent): string {
  const allowedDomains = spec.sandbox?.network?.allowedDomains ?? [];
  return goJson({
    filesystem: { allowWrite: [".", "/tmp"], denyRead: [], denyWrite: [] },
    network: { allowedDomains, deniedDomains: [] },
  });
}

type Deployment = NonNullable<NonNullable<Agent["spec"]["byo"]>["deployment"]> &
  NonNullable<NonNullable<Agent["spec"]["declarative"]>["deployment"]>;

function deploymentOf({ spec }: Agent): Partial<Deployment> {
  const deployment = spec.type === "BYO" ? spec.byo?.deployment : spec.declarative?.deployment;
  if (spec.type === "BYO" && !deployment) throw invalidSpec("spec.byo.deployment is required");
  if (spec.type === "BYO" && !spec.byo!.deployment!.image) throw invalidSpec("spec.byo.deployment.image is required");
  return (deployment ?? {}) as Partial<Deployment>;
}

function podTemplate(
  agent: Agent,
  { additions }: AgentConfig,
  settings: TranslateSettings,
  serviceAccountName: string,
  labels: JsonFields,
  hash: string,
): JsonFields {
  const { spec, metadata } = agent;
  const { name } = metadata;
  const deployment = deploymentOf(agent);
  // Only BYO agents have these fields.
  const { cmd, args, workingDir }: Partial<Deployment> = spec.type === "BYO" ? deployment : {};
  const isGo = spec.type === "Declarative" && spec.declarative?.runtime === "go";
  const skills = spec.skills && hasSkills(spec.skills) ? spec.skills : undefined;
  const configMap = `${name}-skills-init`;
  const fetched = skills && skillsVolumes(skills, configMap);
  const pullSecret = spec.type === "BYO" ? undefined : settings.imagePullSecret;
  const pullSecrets = [...(deployment.imagePullSecrets ?? [])];
  if (pullSecret && !pullSecrets.some((each) => each.name === pullSecret)) pullSecrets.push({ name: pullSecret });
  const isolates =
    skills !== undefined || (spec.type === "Declarative" && spec.declarative?.executeCodeBlocks === true);
  const container: JsonFields = {
    name: "kagent",
    image: imageOf(agent, deployment, settings, isGo),
    imagePullPolicy: deployment.imagePullPolicy || settings.imagePullPolicy,
    command: cmd ? [cmd] : undefined,
    args: spec.type === "BYO" ? nonEmpty(args) : runtimeArguments(settings),
    workingDir: nonEmpty(workingDir),
    ports: [{ name: "http", containerPort: PORT }],
    resources: resources(deployment.resources as JsonFields | undefined),
    env: [...pod(deployment.env), ...additions.env, ...sharedVariables(agent, settings, skills !== undefined)],
    envFrom: nonEmpty(pod(deployment.envFrom)),
    readinessProbe: {
      httpGet: { path: "/.well-known/agent-card.json", port: "http" },
      ...(isGo
        ? { initialDelaySeconds: 1, timeoutSeconds: 5, periodSeconds: 1 }
        : { initialDelaySeconds: 15, timeoutSeconds: 15, periodSeconds: 15 }),
    },
    securityContext: securityContext(deployment.securityContext as JsonFields | undefined, isolates),
    volumeMounts: [
      { mountPath: "/config", name: "config" },
      ...pod(deployment.volumeMounts),
      ...additions.mounts,
      ...(skills ? [{ mountPath: "/skills", name: "kagent-skills", readOnly: true }] : []),
      { mountPath: "/var/run/secrets/tokens", name: "kagent-token" },
    ],
  };
  const initContainer: JsonFields | undefined = skills && {
    name: "skills-init",
    image: `${settings.imageRegistry}/${settings.skillsInitRepository}:${settings.imageTag}`,
    resources: resources(skills.initContainer?.resources as JsonFields | undefined),
    env: nonEmpty(pod(skills.initContainer?.env)),
    securityContext: deployment.securityContext && asGo(deployment.securityContext as Json),
    volumeMounts: fetched!.mounts,
  };
  const metrics = {
    "prometheus.io/scrape": "true",
    "prometheus.io/port": String(PORT),
    "prometheus.io/path": "/metrics",
  };
  return {
    metadata: { labels, annotations: { ...deployment.annotations, [CONFIG_HASH]: hash, ...(isGo ? metrics : {}) } },
    spec: {
      serviceAccountName: nonEmpty(serviceAccountName),
      imagePullSecrets: nonEmpty(pullSecrets as unknown as Json),
      securityContext: deployment.podSecurityContext && asGo(deployment.podSecurityContext as Json),
      initContainers: initContainer && [initContainer],
      containers: [container, ...extraContainers(deployment)],
      volumes: [
        secretVolume("config", name),
        ...pod(deployment.volumes),
        ...additions.volumes,
        ...(fetched ? [{ name: "kagent-skills", emptyDir: {} }, ...fetched.volumes] : []),
        tokenVolume,
      ],
      tolerations: nonEmpty(pod(deployment.tolerations)),
      affinity: deployment.affinity && asGo(deployment.affinity as Json),
      nodeSelector: nonEmpty(deployment.nodeSelector),
    },
  };
}

const runtimeArguments = ({ bindHost }: TranslateSettings): readonly string[] => [
  ...["--host", bindHost, "--port", String(PORT)],
  ...["--filepath", "/config"],
];

const tokenVolume: JsonFields = {
  name: "kagent-token",
  projected: {
    sources: [{ serviceAccountToken: { audience: "kagent", expirationSeconds: 3600, path: "kagent-token" } }],
  },
};

function imageOf(agent: Agent, deployment: Partial<Deployment>, settings: TranslateSettings, isGo: boolean): string {
  if (agent.spec.type === "BYO") return deployment.image!;
  const registry = deployment.imageRegistry || settings.imageRegistry;
  const repository = isGo ? settings.goRepository : settings.pythonRepository;
  return `${registry}/${repository}:${settings.imageTag}${needsSandboxSettings(agent) ? "-full" : ""}`;
}

function sharedVariables(agent: Agent, settings: TranslateSettings, hasSkillsFolder: boolean): readonly JsonFields[] {
  const { environment, controllerName, controllerNamespace, uiUrl } = settings;
  const names = Object.keys(environment)
    .filter((name) => name.startsWith("OTEL_"))
    .sort();
  return [
    ...names.map((name) => ({ name, value: nonEmpty(environment[name]) })),
    { name: "KAGENT_NAMESPACE", valueFrom: { fieldRef: { fieldPath: "metadata.namespace" } } },
    { name: "KAGENT_NAME", value: agent.metadata.name },
    { name: "KAGENT_URL", value: `http://${controllerName}.${controllerNamespace}:8083` },
    ...(uiUrl ? [{ name: "KAGENT_UI_URL", value: uiUrl }] : []),
    ...(hasSkillsFolder ? [{ name: "KAGENT_SKILLS_FOLDER", value: "/skills" }] : []),
    ...(needsSandboxSettings(agent) ? [{ name: "KAGENT_SRT_SETTINGS_PATH", value: "/config/srt-settings.json" }] : []),
  ];
}

/** A sandbox needs a privileged container, unless the user sets allowPrivilegeEscalation to false. */
function securityContext(given: JsonFields | undefined, isolates: boolean): Json | undefined {
  if (given === undefined) return isolates ? { privileged: true } : undefined;
  const context = asGo(given) as JsonFields;
  return isolates && given.allowPrivilegeEscalation !== false ? { ...context, privileged: true } : context;
}

function extraContainers({ extraContainers = [] }: Partial<Deployment>): readonly JsonFields[] {
  const names = extraContainers.map(({ name }) => name);
  if (names.includes("kagent")) throw invalidSpec('extraContainers: "kagent" is a reserved container name');
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined) throw invalidSpec(`extraContainers: duplicate container name ${JSON.stringify(twice)}`);
  return extraContainers.map((container) => asGo(container as Json, "extraContainer") as JsonFields);
}

function skillsConfigMap(agent: Agent, config: string): JsonFields {
  const { name, namespace } = agent.metadata;
  return {
    metadata: { name: `${name}-skills-init`, namespace, ownerReferences: ownerReferences(agent) },
    data: { "config.json": config },
  };
}

function ownerReferences({ apiVersion, kind, metadata }: Agent): readonly JsonFields[] {
  const { name, uid = "" } = metadata;
  return [{ apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true }];
}

function withLabels(object: JsonFields, more: Readonly<Record<string, string>>): JsonFields {
  const metadata = object.metadata as JsonFields;
  return { ...object, metadata: { ...metadata, labels: { ...(metadata.labels as JsonFields), ...more } } };
}

function servicePort({ spec }: Agent): JsonFields {
  const isA2a = spec.type === "BYO" || spec.declarative?.a2aConfig !== undefined;
  return { name: "http", port: PORT, targetPort: PORT, appProtocol: isA2a ? "kgateway.dev/a2a" : undefined };
}

/** The given resources, or kagent's defaults. */
function resources(given: JsonFields | undefined): JsonFields {
  return given === undefined ? DEFAULT_RESOURCES : (asGo(given) as JsonFields);
}

const pod = (parts: unknown): readonly JsonFields[] =>
  ((parts ?? []) as readonly Json[]).map((part) => asGo(part) as JsonFields);

const words = (text: string): ReadonlySet<string> => new Set(text.split(" "));
/** Pod fields that Go omits if they are false or 0. Other fields are pointers, where false and 0 are explicit. */
const OMITTED_WHEN_ZERO = words(
  "readOnly stdin stdinOnce tty hostPort initialDelaySeconds timeoutSeconds periodSeconds successThreshold failureThreshold hostIPC hostPID hostNetwork",
);
/** Maps with user-defined keys. Go omits empty ones, but keeps empty structs such as `emptyDir`. */
const MAPS = words("labels annotations matchLabels nodeSelector limits requests volumeAttributes options");
/** Strings that are pointers in Go, so an empty value is explicit. */
const KEPT_WHEN_EMPTY = words("type storageClassName service");
const QUANTITIES = words("sizeLimit divisor");
/** Structs that Go always writes, even if they are not set, by the field that contains them. */
const WRITTEN_ALWAYS: Readonly<Record<string, JsonFields>> = {
  resourceFieldRef: { divisor: "0" },
  volumeClaimTemplate: { metadata: {} },
  // The spec of a volumeClaimTemplate. No other part of a pod has a `spec`.
  spec: { resources: {} },
  extraContainer: { resources: {} },
};
const canonical = (quantity: Json): Json => formatQuantity(parseQuantity(quantity as string | number));

/**
 * A part of a pod after a round trip through Go: omits empty strings and lists, and writes quantities in canonical form
 * (`3000m` becomes `3`).
 */
function asGo(value: Json, parent = ""): Json {
  if (Array.isArray(value)) return value.map((item) => asGo(item));
  if (typeof value !== "object" || value === null) return value;
  const kept = Object.entries(value).flatMap(([key, field]): [string, Json][] => {
    if (field === undefined || field === null || (field === "" && !KEPT_WHEN_EMPTY.has(key))) return [];
    if ((field === false || field === 0) && OMITTED_WHEN_ZERO.has(key) && parent !== "csi") return [];
    if (Array.isArray(field) && field.length === 0) return [];
    if (MAPS.has(key) && Object.keys(field).length === 0) return [];
    if (QUANTITIES.has(key)) return [[key, canonical(field)]];
    if (key === "limits" || key === "requests") {
      const amounts = Object.entries(field as Readonly<Record<string, Json>>);
      return [[key, Object.fromEntries(amounts.map(([name, amount]) => [name, canonical(amount)]))]];
    }
    return [[key, MAPS.has(key) ? field : asGo(field, key)]];
  });
  return { ...WRITTEN_ALWAYS[parent], ...Object.fromEntries(kept) };
}
