// The OpenAPI v3 schemas of every served group version, once each, without their descriptions.

/** @returns {Promise<Record<string, object>>} component name → schema, references kept, in name order */
export async function harvestSchemas(api) {
  const index = await api.get("/openapi/v3");
  const schemas = {};
  for (const [path, { serverRelativeURL }] of Object.entries(index.paths)) {
    if (!/^api(s\/[^/]+)?\/v[^/]+$/.test(path)) continue;
    const document = await api.get(serverRelativeURL);
    for (const [name, schema] of Object.entries(document.components?.schemas ?? {})) {
      const bare = withoutDescriptions(schema);
      const known = schemas[name];
      if (known === undefined) schemas[name] = bare;
      else merge(name, known, bare);
    }
  }
  return Object.fromEntries(Object.entries(schemas).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Schemas are equal in all documents, except for the group versions in which shared kinds are registered. */
function merge(name, known, other) {
  const tag = "x-kubernetes-group-version-kind";
  const { [tag]: knownKinds = [], ...knownRest } = known;
  const { [tag]: otherKinds = [], ...otherRest } = other;
  if (JSON.stringify(knownRest) !== JSON.stringify(otherRest)) throw new Error(`${name} differs between documents`);
  const seen = new Set(knownKinds.map((kind) => JSON.stringify(kind)));
  const added = otherKinds.filter((kind) => !seen.has(JSON.stringify(kind)));
  if (added.length > 0) known[tag] = [...knownKinds, ...added];
}

/** Drops `description` if it is text of a schema, not if it is a property name. */
function withoutDescriptions(schema) {
  const { description: _text, ...rest } = schema;
  const result = { ...rest };
  if (rest.properties) {
    result.properties = mapValues(rest.properties, withoutDescriptions);
  }
  for (const key of ["items", "additionalProperties", "not"]) {
    if (rest[key] && typeof rest[key] === "object") result[key] = withoutDescriptions(rest[key]);
  }
  for (const key of ["allOf", "anyOf", "oneOf"]) {
    if (rest[key]) result[key] = rest[key].map(withoutDescriptions);
  }
  return result;
}

function mapValues(record, change) {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value)]));
}
