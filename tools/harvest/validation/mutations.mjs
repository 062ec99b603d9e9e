// Changes one field of an object at a time, along the published schema: dropped, emptied, too long, negative, invalid
// name, duplicated. Also adds fields of absent structs, one level deep.

const REFERENCE = /[^/]+$/;
const LONG = "x".repeat(300);

/** The published schemas, with references resolved on access. */
export function schemaReader(components) {
  const resolve = (schema) => {
    const reference = schema?.$ref ?? schema?.allOf?.[0]?.$ref;
    return reference
      ? { ...components[REFERENCE.exec(reference)[0]], component: REFERENCE.exec(reference)[0] }
      : schema;
  };
  const byKind = new Map();
  for (const [name, schema] of Object.entries(components)) {
    for (const { group, version, kind } of schema["x-kubernetes-group-version-kind"] ?? []) {
      byKind.set(`${group}/${version}/${kind}`, { ...schema, component: name });
    }
  }
  return { resolve, of: (id) => byKind.get(id) };
}

const NOT_CONTENT = ["apiVersion", "kind", "metadata", "status"];

/** Yields `{ path, change, object }`; `object` is a copy with one field changed, below `roots` or in the content. */
export function* mutations(base, id, reader, roots) {
  for (const [name, property] of Object.entries(reader.of(id).properties ?? {})) {
    if (roots === undefined ? NOT_CONTENT.includes(name) : !roots.includes(name)) continue;
    yield* below(base, [name], base[name], reader.resolve(property), reader, 0);
  }
}

function* below(base, path, value, schema, reader, invented) {
  for (const [change, next] of variants(value, schema, reader)) {
    yield { path: path.join("."), change, object: replaced(base, path, next) };
  }
  if (value === undefined) {
    if (invented > 0 || !schema.properties) return;
    // Tries one field of an absent struct at a time.
    for (const [name, property] of Object.entries(schema.properties)) {
      const inner = reader.resolve(property);
      for (const sample of samplesOf(inner)) {
        yield {
          path: [...path, name].join("."),
          change: `only ${shown(sample)}`,
          object: replaced(base, path, { [name]: sample }),
        };
      }
    }
    return;
  }
  if (Array.isArray(value)) {
    const items = reader.resolve(schema.items);
    if (items === undefined) return;
    for (const [index, item] of value.entries())
      yield* below(base, [...path, index], item, items, reader, invented + index);
    return;
  }
  if (typeof value !== "object" || value === null) return;
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    // Fields that the first item of a list lacks were tried there.
    if (value[name] === undefined && invented > 0) continue;
    yield* below(base, [...path, name], value[name], reader.resolve(property), reader, invented);
  }
  if (typeof schema.additionalProperties !== "object") return;
  const values = reader.resolve(schema.additionalProperties);
  for (const key of Object.keys(value)) yield* below(base, [...path, key], value[key], values, reader, invented);
}

/** The values to try for a field; `undefined` drops it. */
function* variants(value, schema, reader) {
  if (value !== undefined) yield ["dropped", undefined];
  for (const sample of samplesOf(schema)) {
    if (JSON.stringify(sample) !== JSON.stringify(value)) yield [`set to ${shown(sample)}`, sample];
  }
  if (Array.isArray(value) && value.length > 0) {
    yield ["doubled", [...value, value[0]]];
    const items = reader.resolve(schema.items);
    yield ["emptied within", [...value, items?.type === "object" || items?.properties ? {} : ""]];
  }
  if (typeof schema.additionalProperties === "object") {
    const sample = samplesOf(reader.resolve(schema.additionalProperties))[0] ?? "v";
    yield ["given a bad key", { ...value, "bad key!": sample }];
    yield ["given a key", { ...value, "example.com/extra": sample }];
    yield ["given a long key", { ...value, [LONG]: sample }];
  }
}

function samplesOf(schema) {
  const component = schema?.component ?? "";
  if (component.endsWith(".Quantity")) return ["-1", "0", "1.5", "2", "bad"];
  if (component.endsWith(".IntOrString")) return [-1, 0, 70000, "Bad_Name!", "-5%", "150%"];
  if (component.endsWith(".Time") || component.endsWith(".MicroTime")) return ["2026-01-01T00:00:00Z", "x"];
  if (component.endsWith(".RawExtension") || component.endsWith(".FieldsV1")) return [];
  if (schema === undefined) return [];
  if (schema.type === "string") {
    if (schema.format === "byte") return ["", "AA==", "!"];
    return ["", "Bad_Name!", LONG];
  }
  if (schema.type === "integer") return schema.format === "int64" ? [-1, 0, 5_000_000_000] : [-1, 0, 70000];
  if (schema.type === "boolean") return [true, false];
  if (schema.type === "array") return [[]];
  if (schema.properties || schema.type === "object") return [{}];
  return [];
}

function replaced(node, [key, ...rest], next) {
  const copy = Array.isArray(node) ? [...node] : { ...node };
  if (rest.length > 0) copy[key] = replaced(copy[key] ?? {}, rest, next);
  else if (next !== undefined) copy[key] = next;
  else if (Array.isArray(copy)) copy.splice(key, 1);
  else delete copy[key];
  return copy;
}

function shown(value) {
  const text = JSON.stringify(value);
  return text.length > 40 ? `${text.slice(0, 12)}… (${text.length - 2})` : text;
}
