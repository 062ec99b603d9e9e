import type {
  CustomResourceDefinition,
  CustomResourceDefinitionSpec,
  CustomResourceDefinitionVersion,
} from "../builtin/apiextensions.k8s.io/v1.js";
import { isSameJson } from "../same-json.js";
import { compareSchemas } from "../schema/schema-changes.js";
import type { CrdManifest } from "./crd.js";

/** One reason not to replace a CustomResourceDefinition by another. */
export interface CrdChange {
  /** `refused`: the server would refuse it, or stored objects would become unreadable. `incompatible`: it would break users. */
  readonly severity: "refused" | "incompatible";
  /** `v1: spec.ports[].name`, or a field of the definition. */
  readonly path: string;
  readonly message: string;
}

/**
 * The reasons not to install `wanted` over `installed`; empty if every object and client of the old definition works
 * with the new one. Pure: it asks no server.
 */
export function compareCrds(
  installed: Pick<CustomResourceDefinition, "spec" | "status">,
  wanted: Pick<CrdManifest, "spec">,
): readonly CrdChange[] {
  const changes: CrdChange[] = [];
  const refuse = (path: string, message: string) => changes.push({ severity: "refused", path, message });
  const [before, after] = [installed.spec, wanted.spec];
  const identity = (spec: CustomResourceDefinitionSpec) =>
    ({
      group: spec.group,
      scope: spec.scope,
      "names.kind": spec.names.kind,
      "names.plural": spec.names.plural,
    }) as const;
  for (const [field, value] of Object.entries(identity(after))) {
    const current = identity(before)[field as keyof ReturnType<typeof identity>];
    if (current !== value) refuse(field, `cannot change from ${current} to ${value}`);
  }
  for (const stored of installed.status?.storedVersions ?? []) {
    if (versionNamed(after, stored)) continue;
    refuse(
      "versions",
      `${stored} is missing, but objects may be stored in it; migrate them and drop it from storedVersions`,
    );
  }
  for (const version of before.versions) changes.push(...versionChanges(version, after));
  return [...changes, ...conversionChanges(before, after), ...storageChanges(before, after)];
}

const versionNamed = (spec: CustomResourceDefinitionSpec, name: string) =>
  spec.versions.find((version) => version.name === name);

function versionChanges(
  before: CustomResourceDefinitionVersion,
  spec: CustomResourceDefinitionSpec,
): readonly CrdChange[] {
  const after = versionNamed(spec, before.name);
  const change = (path: string, message: string): CrdChange => ({
    severity: "incompatible",
    path: `${before.name}: ${path}`,
    message,
  });
  if (before.served && !after?.served) return [change("served", "its clients are no longer served")];
  if (!before.served || !after) return [];
  const changes: CrdChange[] = [];
  const hasStatus = {
    before: before.subresources?.status !== undefined,
    after: after.subresources?.status !== undefined,
  };
  if (hasStatus.before !== hasStatus.after) {
    const how = hasStatus.after ? "only writes to the subresource set it now" : "any write can set it now";
    changes.push(change("subresources.status", how));
  }
  if (before.subresources?.scale && !after.subresources?.scale) {
    changes.push(change("subresources.scale", "autoscalers and kubectl scale lose it"));
  }
  for (const { jsonPath } of before.selectableFields ?? []) {
    if (after.selectableFields?.some((field) => field.jsonPath === jsonPath)) continue;
    changes.push(change("selectableFields", `${jsonPath} can no longer be selected by`));
  }
  const schemas = [before.schema?.openAPIV3Schema ?? {}, after.schema?.openAPIV3Schema ?? {}] as const;
  return [...changes, ...compareSchemas(...schemas).map(({ path, message }) => change(path, message))];
}

/** Without the webhook the server would not convert objects, and they would lose whatever the other version lacks. */
function conversionChanges(
  before: CustomResourceDefinitionSpec,
  after: CustomResourceDefinitionSpec,
): readonly CrdChange[] {
  if (before.conversion?.strategy !== "Webhook" || after.conversion?.strategy === "Webhook") return [];
  const [first, ...others] = after.versions;
  const other = others.find(({ schema }) => !isSameJson(schema, first?.schema));
  if (!first || !other) return [];
  const message = `a webhook converts objects; without it the server would not convert them, although ${first.name} and ${other.name} differ`;
  return [{ severity: "incompatible", path: "conversion", message }];
}

/** Without a webhook an object moves between versions unchanged: it loses what the new storage version lacks. */
function storageChanges(
  before: CustomResourceDefinitionSpec,
  after: CustomResourceDefinitionSpec,
): readonly CrdChange[] {
  const [from, to] = [before, after].map((spec) => spec.versions.find((version) => version.storage));
  if (!from || !to || from.name === to.name || after.conversion?.strategy === "Webhook") return [];
  if (isSameJson(from.schema, to.schema)) return [];
  const schemas = [from.schema?.openAPIV3Schema ?? {}, to.schema?.openAPIV3Schema ?? {}] as const;
  return compareSchemas(...schemas).map(({ path, message }) => ({
    severity: "incompatible",
    path: `${from.name} stored as ${to.name}: ${path}`,
    message,
  }));
}
