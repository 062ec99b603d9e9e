import type { ResourceCatalog } from "../../kinds/catalog.js";
import type { CrdNames, CustomResourceDefinition } from "./custom-resource-definition.js";

interface Acceptance {
  readonly accepted: CrdNames;
  /** Why some names were not accepted; undefined if all were. */
  readonly conflict: { readonly reason: string; readonly message: string } | undefined;
}

/** Which names of a CRD are free in its group. If a name is taken, the CRD keeps the name accepted earlier. */
export function acceptedNames(
  catalog: ResourceCatalog,
  { spec, metadata }: CustomResourceDefinition,
  before: CrdNames = { plural: "", kind: "" },
): Acceptance {
  const { names, group } = spec;
  const resources = new Set<string>();
  const kinds = new Set<string>();
  for (const definition of catalog.definitions()) {
    if (definition.group !== group || `${definition.plural}.${group}` === metadata.name) continue;
    resources.add(definition.plural).add(definition.singular);
    for (const shortName of definition.shortNames) resources.add(shortName);
    kinds.add(definition.kind).add(definition.listKind);
  }
  let conflict: Acceptance["conflict"];
  const check = (name: string | undefined, taken: ReadonlySet<string>, reason: string): boolean => {
    if (name === undefined || name === "" || !taken.has(name)) return true;
    conflict = { reason, message: `"${name}" is already in use` };
    return false;
  };
  const { shortNames = [], categories } = names;
  const accepted: CrdNames = {
    plural: check(names.plural, resources, "PluralConflict") ? names.plural : before.plural,
    ...(names.singular && {
      singular: check(names.singular, resources, "SingularConflict") ? names.singular : before.singular,
    }),
    ...(shortNames.length > 0 && {
      shortNames: shortNames.every((name) => check(name, resources, "ShortNamesConflict"))
        ? shortNames
        : before.shortNames,
    }),
    kind: check(names.kind, kinds, "KindConflict") ? names.kind : before.kind,
    ...(names.listKind && {
      listKind: check(names.listKind, kinds, "ListKindConflict") ? names.listKind : before.listKind,
    }),
    ...(categories && { categories }),
  };
  return { accepted, conflict };
}
