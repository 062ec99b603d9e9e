import { isArray, isObject, type Json, type JsonObject } from "../../schema/json.js";
import { canonicalQuantity, quantityNanos } from "../../schema/quantity.js";
import { labelValue } from "../metadata/name-rules.js";

const NANOS = 1_000_000_000n;

const OLD_LABELS: ReadonlyMap<string, string> = new Map([
  ["beta.kubernetes.io/arch", 'deprecated since v1.14; use "kubernetes.io/arch" instead'],
  ["beta.kubernetes.io/os", 'deprecated since v1.14; use "kubernetes.io/os" instead'],
  ["failure-domain.beta.kubernetes.io/region", 'deprecated since v1.17; use "topology.kubernetes.io/region" instead'],
  ["failure-domain.beta.kubernetes.io/zone", 'deprecated since v1.17; use "topology.kubernetes.io/zone" instead'],
  ["beta.kubernetes.io/instance-type", 'deprecated since v1.17; use "node.kubernetes.io/instance-type" instead'],
  ["app.kubernetes.io/created-by", "deprecated since v1.9"],
  ["scheduler.alpha.kubernetes.io/preferAvoidPods", "deprecated since v1.22; use Taints and Tolerations instead"],
  ["node-role.kubernetes.io/master", 'use "node-role.kubernetes.io/control-plane" instead'],
]);

const OLD_ANNOTATIONS: readonly (readonly [string, string])[] = [
  ["scheduler.alpha.kubernetes.io/critical-pod", 'non-functional in v1.16+; use the "priorityClassName" field instead'],
  ["security.alpha.kubernetes.io/sysctls", 'non-functional in v1.11+; use the "sysctls" field instead'],
  ["security.alpha.kubernetes.io/unsafe-sysctls", 'non-functional in v1.11+; use the "sysctls" field instead'],
];

/** Drivers of volumes that are not built in any more: the field, as it is shown, and why. */
const OLD_VOLUMES: readonly (readonly [field: string, shown: string, why: string])[] = [
  ["photonPersistentDisk", "photonPersistentDisk", "deprecated in v1.11, non-functional in v1.16+"],
  ["gitRepo", "gitRepo", "deprecated in v1.11, and disabled by default in v1.33+"],
  ["scaleIO", "scaleIO", "deprecated in v1.16, non-functional in v1.22+"],
  ["flocker", "flocker", "deprecated in v1.22, non-functional in v1.25+"],
  ["storageos", "storageOS", "deprecated in v1.22, non-functional in v1.25+"],
  ["quobyte", "quobyte", "deprecated in v1.22, non-functional in v1.25+"],
  ["glusterfs", "glusterfs", "deprecated in v1.25, non-functional in v1.26+"],
  ["cephfs", "cephfs", "deprecated in v1.28, non-functional in v1.31+"],
  ["rbd", "rbd", "deprecated in v1.28, non-functional in v1.31+"],
];

const SECCOMP = "seccomp.security.alpha.kubernetes.io/pod";
const CONTAINER_SECCOMP = "container.seccomp.security.alpha.kubernetes.io/";
const CONTAINER_APPARMOR = "container.apparmor.security.beta.kubernetes.io/";
const BYTES = ["memory", "ephemeral-storage"];
const NO_POD = "a null labelSelector results in matching no pod";
const NEEDED = "requiredDuringSchedulingIgnoredDuringExecution";
const LIKED = "preferredDuringSchedulingIgnoredDuringExecution";

function object(value: Json | undefined): JsonObject {
  return isObject(value) ? value : {};
}

function items(value: Json | undefined): readonly JsonObject[] {
  return isArray(value) ? value.map(object) : [];
}

/** What is odd about a pod or a template of pods though it is valid. `at` is "" for a pod. */
export function podWarnings(pod: Json | undefined, at: string): readonly string[] {
  const spec = object(object(pod).spec);
  const annotations = object(object(object(pod).metadata).annotations);
  const below = at === "" ? "" : `${at}.`;
  const path = `${below}spec`;
  const warnings: string[] = [];
  const annotated = (key: string, why: string): void => {
    if (Object.hasOwn(annotations, key)) warnings.push(`${below}metadata.annotations[${key}]: ${why}`);
  };
  placing(spec, path, warnings);
  for (const [key, why] of OLD_ANNOTATIONS) annotated(key, why);
  for (const [index, volume] of items(spec.volumes).entries()) podVolume(volume, `${path}.volumes[${index}]`, warnings);
  repeated(spec.hostAliases, "ip", `${path}.hostAliases`, warnings);
  repeated(spec.imagePullSecrets, "name", `${path}.imagePullSecrets`, warnings);
  for (const [index, { name = "" }] of items(spec.imagePullSecrets).entries()) {
    if (name === "") warnings.push(`${path}.imagePullSecrets[${index}].name: invalid empty name ""`);
  }
  for (const name of BYTES) fractions(spec.overhead, name, `${path}.overhead`, warnings);
  const unprofiled = 'non-functional in v1.27+; use the "seccompProfile" field instead';
  if (object(spec.securityContext).seccompProfile === undefined) annotated(SECCOMP, unprofiled);
  const containers = containersOf(spec, path);
  for (const [{ name, securityContext, resources, env }, place] of containers) {
    const { seccompProfile, appArmorProfile = object(spec.securityContext).appArmorProfile } = object(securityContext);
    if (seccompProfile === undefined) annotated(`${CONTAINER_SECCOMP}${name}`, unprofiled);
    if (at !== "" && appArmorProfile === undefined) {
      annotated(`${CONTAINER_APPARMOR}${name}`, 'deprecated since v1.30; use the "appArmorProfile" field instead');
    }
    for (const kind of BYTES) {
      fractions(object(resources).limits, kind, `${place}.resources.limits`, warnings);
      fractions(object(resources).requests, kind, `${place}.resources.requests`, warnings);
    }
    hidden(env, `${place}.env`, warnings);
  }
  ports(containers, warnings);
  if (Number(spec.terminationGracePeriodSeconds ?? 0) < 0) {
    const why = "must be >= 0; negative values are invalid and will be treated as 1";
    warnings.push(`${path}.terminationGracePeriodSeconds: ${why}`);
  }
  const affinity = object(spec.affinity);
  for (const kind of ["podAffinity", "podAntiAffinity"]) {
    affine(object(affinity[kind]), `${path}.affinity.${kind}`, warnings);
  }
  return warnings;
}

/** What is odd about the spec of a claim. */
export function claimWarnings(spec: Json | undefined, path: string, warnings: string[]): void {
  const { requests, limits } = object(object(spec).resources);
  fractions(requests, "storage", `${path}.resources.requests`, warnings);
  fractions(limits, "storage", `${path}.resources.limits`, warnings);
}

/** A volume, of a pod or persistent, whose driver is gone. */
export function driverWarnings(volume: JsonObject, path: string, warnings: string[]): void {
  for (const [field, shown, why] of OLD_VOLUMES) {
    if (volume[field] !== undefined) warnings.push(`${path}.${shown}: ${why}`);
  }
}

/** Labels of nodes that have newer names; with `isJudged`, values that were not validated. */
export function termWarnings(term: JsonObject, path: string, isJudged: boolean, warnings: string[]): void {
  for (const [index, { key, values }] of items(term.matchExpressions).entries()) {
    const at = `${path}.matchExpressions[${index}]`;
    const why = OLD_LABELS.get(String(key));
    if (why !== undefined) warnings.push(`${at}.key: ${key} is ${why}`);
    if (!isJudged || !isArray(values)) continue;
    for (const [position, value] of values.entries()) {
      for (const bad of labelValue(String(value))) {
        warnings.push(`${at}.values[${position}]: ${value} is invalid, ${bad}`);
      }
    }
  }
}

/** An amount of bytes that is none. */
function fractions(amounts: Json | undefined, name: string, path: string, warnings: string[]): void {
  if (!isObject(amounts) || !Object.hasOwn(amounts, name)) return;
  const amount = String(amounts[name]);
  // Whole amounts are told by their text: every pod comes by here.
  if (!/[.munE-]/.test(amount) || quantityNanos(amount) % NANOS === 0n) return;
  const shown = JSON.stringify(canonicalQuantity(amount));
  warnings.push(`${path}[${name}]: fractional byte value ${shown} is invalid, must be an integer`);
}

function placing(spec: JsonObject, path: string, warnings: string[]): void {
  for (const key of Object.keys(object(spec.nodeSelector))) {
    const why = OLD_LABELS.get(key);
    if (why !== undefined) warnings.push(`${path}.nodeSelector[${key}]: ${why}`);
  }
  const affinity = object(object(spec.affinity).nodeAffinity);
  const at = `${path}.affinity.nodeAffinity`;
  for (const [index, term] of items(object(affinity[NEEDED]).nodeSelectorTerms).entries()) {
    termWarnings(term, `${at}.${NEEDED}.nodeSelectorTerms[${index}]`, false, warnings);
  }
  for (const [index, { preference }] of items(affinity[LIKED]).entries()) {
    termWarnings(object(preference), `${at}.${LIKED}[${index}].preference`, true, warnings);
  }
  for (const [index, { topologyKey, labelSelector }] of items(spec.topologySpreadConstraints).entries()) {
    const place = `${path}.topologySpreadConstraints[${index}]`;
    const why = OLD_LABELS.get(String(topologyKey));
    if (why !== undefined) warnings.push(`${place}.topologyKey: ${topologyKey} is ${why}`);
    if (labelSelector === undefined) warnings.push(`${place}.labelSelector: ${NO_POD}`);
  }
}

function affine(affinity: JsonObject, path: string, warnings: string[]): void {
  for (const [index, { labelSelector }] of items(affinity[NEEDED]).entries()) {
    if (labelSelector === undefined) warnings.push(`${path}.${NEEDED}[${index}].labelSelector: ${NO_POD}`);
  }
  for (const [index, { podAffinityTerm }] of items(affinity[LIKED]).entries()) {
    if (object(podAffinityTerm).labelSelector !== undefined) continue;
    warnings.push(`${path}.${LIKED}[${index}].podAffinityTerm.labelSelector: ${NO_POD}`);
  }
}

function podVolume(volume: JsonObject, path: string, warnings: string[]): void {
  driverWarnings(volume, path, warnings);
  const { spec } = object(object(volume.ephemeral).volumeClaimTemplate);
  if (spec !== undefined) claimWarnings(spec, `${path}.ephemeral.volumeClaimTemplate.spec`, warnings);
}

function repeated(value: Json | undefined, key: string, path: string, warnings: string[]): void {
  const seen = new Set<string>();
  for (const [index, item] of items(value).entries()) {
    const text = String(item[key] ?? "");
    if (seen.has(text)) warnings.push(`${path}[${index}].${key}: duplicate ${key} ${JSON.stringify(text)}`);
    seen.add(text);
  }
}

type Placed = readonly [container: JsonObject, path: string];

function containersOf(spec: JsonObject, path: string): readonly Placed[] {
  return ["initContainers", "containers", "ephemeralContainers"].flatMap((kind) =>
    items(spec[kind]).map((container, index): Placed => [container, `${path}.${kind}[${index}]`]),
  );
}

/** A variable that is set again, without building on what it was. */
function hidden(env: Json | undefined, path: string, warnings: string[]): void {
  const seen = new Set<string>();
  for (const [index, { name, value, valueFrom }] of items(env).entries()) {
    const text = String(name);
    const reference = `$(${text})`;
    const builds = valueFrom === undefined && value !== reference && String(value ?? "").includes(reference);
    if (seen.has(text) && !builds) {
      const shown = JSON.stringify(text);
      warnings.push(`${path}[${index}]: hides previous definition of ${shown}, which may be dropped when using apply`);
    }
    seen.add(text);
  }
}

interface Port {
  readonly at: string;
  readonly hostIP: string;
  readonly hostPort: number;
}

function ports(containers: readonly Placed[], warnings: string[]): void {
  const known = new Map<string, Port[]>();
  const names = new Map<string, string>();
  const ofNames: string[] = [];
  for (const [container, place] of containers) {
    for (const [index, port] of items(container.ports).entries()) {
      const { containerPort, protocol = "TCP", hostIP = "", hostPort = 0, name = "" } = port;
      const here: Port = { at: `${place}.ports[${index}]`, hostIP: String(hostIP), hostPort: Number(hostPort) };
      const key = `${containerPort}/${protocol}`;
      const others = known.get(key) ?? [];
      for (const other of others) {
        const what = clash(here, other);
        if (what !== undefined) warnings.push(`${here.at}: ${what} port definition with ${other.at}`);
      }
      known.set(key, [...others, here]);
      const first = names.get(String(name));
      if (name === "") continue;
      if (first === undefined) names.set(String(name), here.at);
      else {
        const why = `services and probes that select ports by name will use ${first}`;
        ofNames.push(`${here.at}: duplicate port name ${JSON.stringify(name)} with ${first}, ${why}`);
      }
    }
  }
  warnings.push(...ofNames);
}

function clash(one: Port, other: Port): string | undefined {
  if (one.hostIP === other.hostIP && one.hostPort === other.hostPort) return "duplicate";
  if (one.hostPort === 0 || other.hostPort === 0) return "overlapping";
  const isAmbiguous = one.hostPort === other.hostPort && (one.hostIP === "") !== (other.hostIP === "");
  return isAmbiguous ? "dangerously ambiguous" : undefined;
}
