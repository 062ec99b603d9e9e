// The behaviour of each kind beyond its schema, found by experiment: creates, updates, patches and deletes one sample
// of each in a dedicated server.
import { collectionPath } from "./api.mjs";
import { resourcesOf } from "./discovery.mjs";
import { samples } from "./samples.mjs";

const NAMESPACE = "harvest";
const FINALIZER = "setpoint.example/harvest";
/** Selectable fields that are not paths of the schema. */
const SELECTOR_ALIASES = ["status.successful", "source", "reportingComponent", "spec.unschedulable"];

/** @returns {Promise<Record<string, object>>} `group/version/plural` → facts */
export async function harvestStrategies(api, discovery, schemas) {
  const made = await api.call("POST", "/api/v1/namespaces", { body: { metadata: { name: NAMESPACE } } });
  if (made.status !== 201) throw new Error(`namespace ${NAMESPACE}: ${JSON.stringify(made.body)}`);
  const paths = schemaPaths(schemas);
  const facts = {};
  for (const resource of resourcesOf(discovery)) {
    const { group, version, plural, kind, verbs } = resource;
    if (!verbs.includes("list")) continue;
    const selectableFields = await probeSelectors(api, resource, paths(group, version, kind));
    const listed = await api.call("GET", `${collectionPath(resource)}?limit=1`);
    const warning = warningOf(listed.headers);
    const behaviour = verbs.includes("create") ? await probe(api, resource) : {};
    facts[`${group}/${version}/${plural}`] = {
      ...behaviour,
      ...(selectableFields.length > 0 ? { selectableFields } : {}),
      ...(warning ? { warning } : {}),
    };
  }
  return facts;
}

async function probe(api, resource) {
  const { group, version, kind, subresources = [] } = resource;
  const id = `${group}/${version}/${kind}`;
  const sample = samples[id];
  if (sample === undefined) throw new Error(`no sample of ${id}`);
  const { name = "probe", ...content } = sample;
  const collection = collectionPath(resource, NAMESPACE);
  const path = `${collection}/${name}`;
  const body = {
    apiVersion: group === "" ? version : `${group}/${version}`,
    kind,
    metadata: { name, ...(resource.namespaced ? { namespace: NAMESPACE } : {}) },
    ...content,
  };
  const createdByPut = await api.call("PUT", `${path}?dryRun=All`, { body });
  const created = await api.call("POST", collection, { body });
  if (created.status !== 201) throw new Error(`${id}: ${JSON.stringify(created.body)}`);

  const { resourceVersion: _version, ...metadata } = created.body.metadata;
  const unconditional = await api.call("PUT", `${path}?dryRun=All`, { body: { ...created.body, metadata } });
  // With finalizers, or an orphan policy that adds one, any kind answers a delete with the object.
  const patch = { headers: { "content-type": "application/merge-patch+json" } };
  await api.call("PATCH", path, { ...patch, body: { metadata: { finalizers: null } } });
  const deleted = await api.call("DELETE", `${path}?dryRun=All&propagationPolicy=Background`);
  const held = await api.call("PATCH", path, { ...patch, body: { metadata: { finalizers: [FINALIZER] } } });
  if (held.status !== 200) throw new Error(`${id}: ${JSON.stringify(held.body)}`);
  const marked = await api.call("DELETE", path);
  const finalizers = marked.body.metadata?.finalizers ?? [];
  await api.call("PATCH", path, { ...patch, body: { metadata: { finalizers: null } } });

  return {
    hasGeneration: created.body.metadata.generation !== undefined,
    hasStatus: subresources.some((subresource) => subresource.name === "status"),
    allowsUnconditionalUpdate: unconditional.status === 200,
    allowsCreateOnUpdate: createdByPut.status === 201,
    returnsDeletedObject: deleted.body.kind !== "Status",
    ...(finalizers.includes("orphan") ? { defaultPropagation: "Orphan" } : {}),
    ...(created.body.metadata.finalizers ? { finalizers: created.body.metadata.finalizers } : {}),
  };
}

async function probeSelectors(api, resource, candidates) {
  const accepted = [];
  for (const field of [...candidates, ...SELECTOR_ALIASES]) {
    if (accepted.includes(field)) continue;
    const answer = await api.call("GET", `${collectionPath(resource)}?limit=1&fieldSelector=${field}%3Dx`);
    if (answer.status === 200) accepted.push(field);
    else if (answer.status !== 400) throw new Error(`${resource.plural} by ${field}: ${answer.status}`);
  }
  return accepted;
}

/** The scalar fields of a kind down to the third level, as selectors name them. */
function schemaPaths(schemas) {
  const byKind = new Map();
  for (const schema of Object.values(schemas)) {
    for (const { group, version, kind } of schema["x-kubernetes-group-version-kind"] ?? []) {
      byKind.set(`${group}/${version}/${kind}`, schema);
    }
  }
  const resolve = (schema) => {
    const reference = schema.$ref ?? schema.allOf?.[0]?.$ref;
    return reference ? schemas[reference.split("/").pop()] : schema;
  };
  function* scalars(schema, prefix, depth) {
    for (const [name, property] of Object.entries(schema.properties ?? {})) {
      const resolved = resolve(property);
      const path = prefix === "" ? name : `${prefix}.${name}`;
      if (path === "metadata") continue;
      if (resolved.properties && depth < 3) yield* scalars(resolved, path, depth + 1);
      else if (["string", "boolean", "integer"].includes(resolved.type)) yield path;
    }
  }
  return (group, version, kind) => {
    const schema = byKind.get(`${group}/${version}/${kind}`);
    return schema ? [...scalars(schema, "", 1)].filter((path) => path !== "apiVersion" && path !== "kind") : [];
  };
}

/** The text of `299 - "text"`. */
function warningOf(headers) {
  const match = /^299 - "(.*)"$/.exec(headers.warning ?? "");
  return match?.[1].replace(/\\(.)/g, "$1");
}
