import type { Facts, ResourceFacts } from "../facts/facts.js";
import type { Message } from "../facts/message.js";
import type { Schema } from "../facts/schema.js";
import { apiVersionOf } from "../kinds/catalog.js";
import type { ObjectShape, ResourceDefinition, Subresource } from "../kinds/resource-definition.js";
import type { Strategy } from "../kinds/strategy.js";
import { conversionOf, storageOf } from "./built-in-storage.js";
import type { BuiltInWriting } from "./built-in-writing.js";

/**
 * Every built-in resource, in discovery order. `writing` is called only for strategies and shapes, which reads do not
 * need.
 */
export function builtInDefinitions(facts: Facts, writing: () => BuiltInWriting): readonly ResourceDefinition[] {
  return facts.groups.flatMap(({ group, versions }) =>
    versions.flatMap(({ version, resources }) =>
      resources.map((resource) => builtInDefinition(facts, writing, group, version, resource)),
    ),
  );
}

function builtInDefinition(
  facts: Facts,
  writing: () => BuiltInWriting,
  group: string,
  version: string,
  resource: ResourceFacts,
): ResourceDefinition {
  const { plural, kind } = resource;
  const known = facts.strategy(group, version, plural) ?? {};
  const conversion = conversionOf(facts, group, version, resource);
  let schema: Schema | undefined;
  let message: Message | undefined;
  let shape: ObjectShape | undefined;
  let strategy: Strategy | undefined;
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
    // Resolved at first use, so that startup does not resolve every kind.
    get schema() {
      return (schema ??= facts.schemaOf(group, version, kind));
    },
    get message() {
      return (message ??= facts.messageOf(apiVersionOf({ group, version }), kind));
    },
    get shape() {
      return (shape ??= writing().shapeOf(group, version, kind));
    },
    get strategy() {
      return (strategy ??= writing().strategyOf(group, version, plural));
    },
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
