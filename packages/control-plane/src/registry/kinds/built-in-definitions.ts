import type { Facts, ResourceFacts } from "../../facts/facts.js";
import type { Message } from "../../facts/message.js";
import type { Schema } from "../../schema/schema.js";
import { apiVersionOf } from "../catalog.js";
import type { ObjectShape, ResourceDefinition, Subresource } from "../resource-definition.js";
import type { Strategy } from "../strategy.js";
import { builtInShape } from "./built-in-shape.js";
import { conversionOf, storageOf } from "./built-in-storage.js";
import { builtInStrategy } from "./built-in-strategies.js";
import { BuiltInDefaults } from "./defaults/built-in-defaults.js";

/**
 * Every resource that the harvested server serves out of the box, in the order of its discovery. `extras` adds to the
 * strategies what needs more than data, by `group/plural`.
 */
export function builtInDefinitions(
  facts: Facts,
  extras: Readonly<Record<string, Partial<Strategy>>>,
): readonly ResourceDefinition[] {
  const defaults = new BuiltInDefaults(facts.components);
  return facts.groups.flatMap(({ group, versions }) =>
    versions.flatMap(({ version, resources }) =>
      resources.map((resource) => builtInDefinition(facts, defaults, group, version, resource, extras)),
    ),
  );
}

function builtInDefinition(
  facts: Facts,
  defaults: BuiltInDefaults,
  group: string,
  version: string,
  resource: ResourceFacts,
  extras: Readonly<Record<string, Partial<Strategy>>>,
): ResourceDefinition {
  const { plural, kind } = resource;
  const known = facts.strategy(group, version, plural) ?? {};
  const conversion = conversionOf(facts, group, version, resource);
  let schema: Schema | undefined;
  let message: Message | undefined;
  let shape: ObjectShape | undefined;
  return {
    group,
    version,
    kind,
    listKind: `${kind}List`,
    plural,
    singular: resource.singular,
    shortNames: resource.shortNames ?? [],
    categories: resource.categories ?? [],
    namespaced: resource.namespaced,
    verbs: resource.verbs,
    isServed: true,
    isBuiltIn: true,
    subresources: (resource.subresources ?? []).map((subresource) => ({
      group: subresource.group ?? group,
      version: subresource.version ?? version,
      name: subresource.name,
      kind: subresource.kind,
      verbs: subresource.verbs,
      ...(subresource.name === "scale" && { scale: WORKLOAD_SCALE }),
    })),
    ...storageOf(group, version, plural),
    // Resolved at first use: a server that starts need not know every kind.
    get schema() {
      return (schema ??= facts.schemaOf(group, version, kind));
    },
    get message() {
      return (message ??= facts.messageOf(apiVersionOf({ group, version }), kind));
    },
    get shape() {
      return (shape ??= builtInShape(facts, defaults, group, version, kind));
    },
    strategy: { ...builtInStrategy(group, plural, known), ...extras[`${group}/${plural}`] },
    get columns() {
      return facts.columns(group, version, plural);
    },
    selectableFields: known.selectableFields ?? [],
    ...(conversion && { convert: conversion }),
    ...(resource.storageVersionHash !== undefined && { storageVersionHash: resource.storageVersionHash }),
    ...(known.warning !== undefined && { warning: known.warning }),
  };
}

const WORKLOAD_SCALE: NonNullable<Subresource["scale"]> = {
  specReplicasPath: ".spec.replicas",
  statusReplicasPath: ".status.replicas",
  labelSelectorPath: ".spec.selector",
};
