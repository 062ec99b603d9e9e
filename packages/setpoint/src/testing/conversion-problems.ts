import type { KubeObject } from "../kinds/object.js";
import type { Resource } from "../kinds/resource.js";
import { isSameJson } from "../kinds/same-json.js";
import { validateValue } from "../kinds/schema/validation.js";

/**
 * The problems of converting an object to the other versions of its kind and back; empty for none. Each converted form
 * must fit the schema of its version, and the conversion back must return the same object. Try it with random objects.
 *
 * ```ts
 * const site = Website.withDefaults({ metadata: { name: "a" }, spec: { image: "nginx" } });
 * expect(conversionProblems(Website, site as KubeObject)).toEqual([]);
 * ```
 */
// biome-ignore lint/suspicious/noExplicitAny: of any kind
export function conversionProblems(kind: Resource<any>, object: KubeObject): readonly string[] {
  const { group, declaration } = kind;
  const versions = [declaration, ...declaration.versions.map((older) => older.declaration)];
  return versions.flatMap(({ version, schema }) => {
    const apiVersion = `${group}/${version}`;
    if (apiVersion === object.apiVersion) return [];
    const there = kind.convert(object, apiVersion);
    const problems = validateValue(JSON.parse(JSON.stringify(there)), schema, "").map(
      ({ path, message }) => `${version}: ${path.replace(/^\./, "")} ${message}`,
    );
    const back = kind.convert(there, object.apiVersion);
    if (isSameJson(plain(back), plain(object))) return problems;
    return [
      ...problems,
      `${version}: the conversion back gives ${JSON.stringify(back)} instead of ${JSON.stringify(object)}`,
    ];
  });
}

/** Without undefined fields, as servers see it. */
function plain(object: KubeObject): unknown {
  return JSON.parse(JSON.stringify(object));
}
