// Sends the same changed objects to two servers and compares their verdicts: status, reason and causes of a refusal,
// and the defaulted object if both accept it.
import { collectionPath } from "../api.mjs";
import { bases, NAMESPACE } from "./bases.mjs";
import { mutations, schemaReader } from "./mutations.mjs";
import { statuses } from "./statuses.mjs";

/**
 * @typedef {{ call(method: string, path: string, options?: object): Promise<{ status: number, body: any, headers?: any }> }} Api
 */

/**
 * Every question about a kind, as dry-run requests: the changed object as a create, as an update of the base, and its
 * status as a status update of the base. `every` asks only each n-th one.
 */
export function* questions(id, resource, components, { every = 1, offset = 0 } = {}) {
  const base = objectOf(id, resource);
  const { name } = base.metadata;
  // The base already uses a name that the kind dictates.
  const created = bases[id].name === undefined ? `${name}-new` : name;
  const collection = collectionPath(resource, NAMESPACE);
  const reader = schemaReader(components);
  const asNew = (object) => ({
    method: "POST",
    target: `${collection}?dryRun=All`,
    body: { ...object, metadata: { ...object.metadata, name: created } },
  });
  const asUpdate = (object, endpoint = "") => ({
    method: "PUT",
    target: `${collection}/${name}${endpoint}?dryRun=All`,
    body: object,
  });
  let count = 0;
  yield { id, path: "", change: "base", ...asNew(base) };
  for (const { path, change, object } of mutations(base, id, reader)) {
    if (count++ % every !== offset) continue;
    yield { id, path, change, ...asNew(object) };
    yield { id, path, change, ...asUpdate(object) };
  }
  if (statuses[id] === undefined) return;
  const withStatus = { ...base, status: statuses[id] };
  yield { id, path: "status", change: "base", ...asUpdate(withStatus, "/status") };
  for (const { path, change, object } of mutations(withStatus, id, reader, ["status"])) {
    if (count++ % every !== offset) continue;
    yield { id, path, change, ...asUpdate(object, "/status") };
  }
}

export function objectOf(id, resource) {
  const { name = "base", metadata, ...content } = bases[id];
  const [group, version, kind] = id.split("/");
  return {
    apiVersion: group === "" ? version : `${group}/${version}`,
    kind,
    metadata: { name, ...(resource.namespaced ? { namespace: NAMESPACE } : {}), ...metadata },
    ...content,
  };
}

/** API servers write the status of these kinds themselves, soon after creation. */
const WRITTEN_BY_SERVER = new Set(["apiextensions.k8s.io/v1/CustomResourceDefinition"]);

/** Creates the namespace and the base object of a kind on a server; returns the resourceVersion for updates. */
export async function prepare(api, id, resource) {
  if (id !== "/v1/Namespace") {
    await api.call("POST", "/api/v1/namespaces", {
      body: { apiVersion: "v1", kind: "Namespace", metadata: { name: NAMESPACE } },
    });
  }
  const body = objectOf(id, resource);
  const collection = collectionPath(resource, NAMESPACE);
  await api.call("DELETE", `${collection}/${body.metadata.name}?gracePeriodSeconds=0&propagationPolicy=Background`);
  const created = await api.call("POST", collection, { body });
  if (created.status !== 201 && created.body?.reason !== "AlreadyExists")
    throw new Error(`${id}: ${JSON.stringify(created.body)}`);
  const read = async () => (await api.call("GET", `${collection}/${body.metadata.name}`)).body;
  if (!WRITTEN_BY_SERVER.has(id)) return (await read()).metadata.resourceVersion;
  for (let before, tries = 0; tries < 150; tries++) {
    const { metadata, status } = await read();
    const isEstablished = status?.conditions?.some((each) => each.type === "Established" && each.status === "True");
    if (isEstablished && metadata.resourceVersion === before) return before;
    before = metadata.resourceVersion;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  throw new Error(`${id}: the server does not come to an end with its status`);
}

export async function cleanUp(api, id, resource) {
  const { metadata } = objectOf(id, resource);
  await api.call(
    "DELETE",
    `${collectionPath(resource, NAMESPACE)}/${metadata.name}?gracePeriodSeconds=0&propagationPolicy=Background`,
  );
}

/**
 * How two responses compare. `verdict`: both accept, or both refuse with the same code and reason. `causes`: the same
 * fields for the same reasons. `wording`: the same sentences. `defaults`: the same object, if both accept.
 */
export function compared(ours, real) {
  const verdict = ours.status === real.status && ours.body?.reason === real.body?.reason;
  const accepted = real.status < 300;
  if (!verdict) return { verdict, causes: false, wording: false, defaults: !accepted };
  if (accepted) {
    return { verdict, causes: true, wording: true, defaults: stable(ours.body) === stable(real.body) };
  }
  const brief = (answer) =>
    (answer.body.details?.causes ?? [])
      .map(({ reason, field }) => `${field} ${reason}`)
      .sort()
      .join("\n");
  const causes = brief(ours) === brief(real);
  return { verdict, causes, wording: causes && wordingOf(ours) === wordingOf(real), defaults: true };
}

/** The sentences of a refusal, in any order. */
function wordingOf({ body }) {
  const sentences = (body.details?.causes ?? []).map(({ message }) => message);
  return sentences.length > 0 ? sentences.sort().join("\n") : body.message;
}

/** Removes values that differ between any two servers. */
function stable(object) {
  const { metadata = {}, ...rest } = object;
  const { uid, resourceVersion, creationTimestamp, managedFields, generation, ...kept } = metadata;
  return JSON.stringify(sorted({ ...rest, ...(rest.kind === REQUEST && { spec: asked(rest.spec) }), metadata: kept }));
}

const REQUEST = "CertificateSigningRequest";

/** The caller is the administrator of each server, with or without a uid. */
function asked({ uid, ...spec }) {
  return spec;
}

const GENERATED = new Set([
  "clusterIP",
  "clusterIPs",
  "nodePort",
  "healthCheckNodePort",
  "controller-uid",
  "batch.kubernetes.io/controller-uid",
  "lastPhaseTransitionTime",
  "lastTransitionTime",
]);

function sorted(value) {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const keys = Object.keys(value).sort();
  return Object.fromEntries(keys.map((key) => [key, GENERATED.has(key) ? "generated" : sorted(value[key])]));
}

/**
 * Compares all questions about a kind. Calls `onDifference` for each difference.
 * @returns counts by kind of agreement.
 */
export async function compareKind({ ours, real, id, resource, components, sample, onDifference }) {
  const sides = [ours, real];
  const versions = [];
  for (const side of sides) versions.push(await prepare(side, id, resource));
  const counts = { asked: 0, verdict: 0, causes: 0, wording: 0, accepted: 0, defaults: 0 };
  for (const question of questions(id, resource, components, sample)) {
    const [our, theirs] = await Promise.all(sides.map((side, at) => ask(side, question, versions[at])));
    const result = compared(our, theirs);
    counts.asked++;
    for (const level of ["verdict", "causes", "wording"]) if (result[level]) counts[level]++;
    if (theirs.status < 300) {
      counts.accepted++;
      if (result.defaults) counts.defaults++;
    }
    if (!Object.values(result).every(Boolean)) onDifference?.({ ...question, result, ours: our, real: theirs });
  }
  for (const side of sides) await cleanUp(side, id, resource);
  return counts;
}

/** An update states its resourceVersion: kinds that require one would report nothing else. */
function ask(side, { method, target, body }, resourceVersion) {
  const sent = method === "PUT" ? { ...body, metadata: { ...body.metadata, resourceVersion } } : body;
  return side.call(method, target, { body: sent });
}
