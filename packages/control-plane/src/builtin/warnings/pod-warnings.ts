import { goQuote } from "../../api/go-format.js";
import { field, type Json, type JsonObject } from "../../api/json.js";
import { list, object } from "../validation/rule.js";
import { addressWarnings, eachWarnings } from "./address-warnings.js";
import { fileWarnings } from "./file-warnings.js";
import { labelWarnings, OLD_LABELS, termWarnings } from "./label-warnings.js";
import { claimWarnings, driverWarnings, fractionWarnings } from "./storage-warnings.js";

const OLD_ANNOTATIONS: readonly (readonly [string, string])[] = [
  ["scheduler.alpha.kubernetes.io/critical-pod", 'non-functional in v1.16+; use the "priorityClassName" field instead'],
  ["security.alpha.kubernetes.io/sysctls", 'non-functional in v1.11+; use the "sysctls" field instead'],
  ["security.alpha.kubernetes.io/unsafe-sysctls", 'non-functional in v1.11+; use the "sysctls" field instead'],
];

const SECCOMP = "seccomp.security.alpha.kubernetes.io/pod";
const CONTAINER_SECCOMP = "container.seccomp.security.alpha.kubernetes.io/";
const CONTAINER_APPARMOR = "container.apparmor.security.beta.kubernetes.io/";
const BYTES = ["memory", "ephemeral-storage"];
const NO_POD = "a null labelSelector results in matching no pod";
const NEEDED = "requiredDuringSchedulingIgnoredDuringExecution";
const LIKED = "preferredDuringSchedulingIgnoredDuringExecution";

/** Warnings about a valid pod or pod template. `at` is "" for a pod. */
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
  const volumes = list(spec.volumes);
  for (const [index, volume] of volumes.entries())
    warnings.push(...volumeWarnings(volume, `${path}.volumes[${index}]`));
  for (const volume of volumes) warnings.push(...fileWarnings(volume));
  repeated(spec.hostAliases, "ip", `${path}.hostAliases`, warnings);
  repeated(spec.imagePullSecrets, "name", `${path}.imagePullSecrets`, warnings);
  for (const [index, { name = "" }] of list(spec.imagePullSecrets).entries()) {
    if (name === "") warnings.push(`${path}.imagePullSecrets[${index}].name: invalid empty name ""`);
  }
  for (const name of BYTES) warnings.push(...fractionWarnings(spec.overhead, name, `${path}.overhead`));
  const unprofiled = 'non-functional in v1.27+; use the "seccompProfile" field instead';
  if (object(spec.securityContext).seccompProfile === undefined) annotated(SECCOMP, unprofiled);
  const containers = containersOf(spec, path);
  for (const [{ name, securityContext, resources, env }, place] of containers) {
    const { seccompProfile, appArmorProfile } = object(securityContext);
    if (seccompProfile === undefined) annotated(`${CONTAINER_SECCOMP}${name}`, unprofiled);
    const profile = `${CONTAINER_APPARMOR}${name}`;
    const isSaid = isSameProfile(field(annotations, profile), object(spec.securityContext).appArmorProfile);
    if (at !== "" && appArmorProfile === undefined && !isSaid) {
      annotated(profile, 'deprecated since v1.30; use the "appArmorProfile" field instead');
    }
    for (const kind of BYTES) {
      const { limits, requests } = object(resources);
      warnings.push(...fractionWarnings(limits, kind, `${place}.resources.limits`));
      warnings.push(...fractionWarnings(requests, kind, `${place}.resources.requests`));
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
  const servers = object(spec.dnsConfig).nameservers;
  warnings.push(...eachWarnings(addressWarnings, servers, `${path}.dnsConfig.nameservers`));
  for (const [index, { ip }] of list(spec.hostAliases).entries()) {
    warnings.push(...addressWarnings(ip, `${path}.hostAliases[${index}].ip`));
  }
  return warnings;
}

/** Whether an annotation and the pod's profile agree. */
function isSameProfile(annotation: Json | undefined, profile: Json | undefined): boolean {
  const { type, localhostProfile } = object(profile);
  if (type === "Localhost") return annotation === `localhost/${localhostProfile}`;
  return annotation === (type === "RuntimeDefault" ? "runtime/default" : "unconfined") && type !== undefined;
}

function placing(spec: JsonObject, path: string, warnings: string[]): void {
  warnings.push(...labelWarnings(spec.nodeSelector, (label) => `${path}.nodeSelector[${label}]`));
  const affinity = object(object(spec.affinity).nodeAffinity);
  const at = `${path}.affinity.nodeAffinity`;
  for (const [index, term] of list(object(affinity[NEEDED]).nodeSelectorTerms).entries()) {
    warnings.push(...termWarnings(term, `${at}.${NEEDED}.nodeSelectorTerms[${index}]`));
  }
  for (const [index, { preference }] of list(affinity[LIKED]).entries()) {
    warnings.push(...termWarnings(object(preference), `${at}.${LIKED}[${index}].preference`, true));
  }
  for (const [index, { topologyKey, labelSelector }] of list(spec.topologySpreadConstraints).entries()) {
    const place = `${path}.topologySpreadConstraints[${index}]`;
    const why = OLD_LABELS.get(String(topologyKey));
    if (why !== undefined) warnings.push(`${place}.topologyKey: ${topologyKey} is ${why}`);
    if (labelSelector === undefined) warnings.push(`${place}.labelSelector: ${NO_POD}`);
  }
}

function affine(affinity: JsonObject, path: string, warnings: string[]): void {
  for (const [index, { labelSelector }] of list(affinity[NEEDED]).entries()) {
    if (labelSelector === undefined) warnings.push(`${path}.${NEEDED}[${index}].labelSelector: ${NO_POD}`);
  }
  for (const [index, { podAffinityTerm }] of list(affinity[LIKED]).entries()) {
    if (object(podAffinityTerm).labelSelector !== undefined) continue;
    warnings.push(`${path}.${LIKED}[${index}].podAffinityTerm.labelSelector: ${NO_POD}`);
  }
}

function volumeWarnings(volume: JsonObject, path: string): readonly string[] {
  const { spec } = object(object(volume.ephemeral).volumeClaimTemplate);
  return [...driverWarnings(volume, path), ...claimWarnings(spec, `${path}.ephemeral.volumeClaimTemplate.spec`)];
}

function repeated(value: Json | undefined, key: string, path: string, warnings: string[]): void {
  const seen = new Set<string>();
  for (const [index, item] of list(value).entries()) {
    const text = String(item[key] ?? "");
    if (seen.has(text)) warnings.push(`${path}[${index}].${key}: duplicate ${key} ${goQuote(text)}`);
    seen.add(text);
  }
}

type Placed = readonly [container: JsonObject, path: string];

function containersOf(spec: JsonObject, path: string): readonly Placed[] {
  return ["initContainers", "containers", "ephemeralContainers"].flatMap((kind) =>
    list(spec[kind]).map((container, index): Placed => [container, `${path}.${kind}[${index}]`]),
  );
}

/** Warns about a variable that is set again without using its earlier value. */
function hidden(env: Json | undefined, path: string, warnings: string[]): void {
  const seen = new Set<string>();
  for (const [index, { name, value, valueFrom }] of list(env).entries()) {
    const text = String(name);
    const reference = `$(${text})`;
    const builds = valueFrom === undefined && value !== reference && String(value ?? "").includes(reference);
    if (seen.has(text) && !builds) {
      const shown = goQuote(text);
      warnings.push(`${path}[${index}]: hides previous definition of ${shown}, which may be dropped when using apply`);
    }
    seen.add(text);
  }
}

interface Port {
  readonly at: string;
  readonly name: string;
  readonly number: string;
  readonly hostIP: string;
  readonly hostPort: number;
}

/** Maximum number of port conflicts to look for: more than any header holds. */
const MOST_CLASHES = 1_000;

function ports(containers: readonly Placed[], warnings: string[]): void {
  const all = containers.flatMap(([container, place]) =>
    list(container.ports).map((port, index) => portOf(port, `${place}.ports[${index}]`)),
  );
  const known = new Map<string, Port[]>();
  const most = warnings.length + MOST_CLASHES;
  for (const port of all) {
    const { at, name, number, hostIP, hostPort } = port;
    if (hostIP !== "" && hostPort === 0) {
      const [containerPort, protocol] = number.split("/");
      const shown = `{Name:${name} HostPort:0 ContainerPort:${containerPort} Protocol:${protocol} HostIP:${hostIP}}`;
      warnings.push(`${at}: hostIP set without hostPort: ${shown}`);
    }
    const others = known.get(number) ?? [];
    for (const other of others) {
      if (warnings.length >= most) break;
      const what = clash(port, other);
      if (what !== undefined) warnings.push(`${at}: ${what} port definition with ${other.at}`);
    }
    if (others.push(port) === 1) known.set(number, others);
  }
  const named = new Map<string, string>();
  for (const { at, name } of all) {
    const first = named.get(name);
    if (first === undefined) {
      if (name !== "") named.set(name, at);
      continue;
    }
    const why = `services and probes that select ports by name will use ${first}`;
    warnings.push(`${at}: duplicate port name ${goQuote(name)} with ${first}, ${why}`);
  }
}

function portOf(
  { name = "", containerPort, protocol = "TCP", hostIP = "", hostPort = 0 }: JsonObject,
  at: string,
): Port {
  const number = `${containerPort}/${protocol}`;
  return { at, name: String(name), number, hostIP: String(hostIP), hostPort: Number(hostPort) };
}

function clash(one: Port, other: Port): string | undefined {
  if (one.hostIP === other.hostIP && one.hostPort === other.hostPort) return "duplicate";
  if (one.hostPort === 0 || other.hostPort === 0) return "overlapping";
  const isAmbiguous = one.hostPort === other.hostPort && (one.hostIP === "") !== (other.hostIP === "");
  return isAmbiguous ? "dangerously ambiguous" : undefined;
}
