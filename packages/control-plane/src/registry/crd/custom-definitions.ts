import { createHash } from "node:crypto";
import type { KubeObject } from "setpoint";
import { invalidValue } from "../../api/field-error.js";
import { goTypeName, goValue } from "../../api/go-format.js";
import { asJson, isObject, type Json, type JsonObject } from "../../api/json.js";
import type { FieldError } from "../../api/status-error.js";
import { ruleTree } from "../../cel/schema/rule-tree.js";
import { validateRules } from "../../cel/schema/rule-validation.js";
import type { Column } from "../../facts/column.js";
import type { Facts } from "../../facts/facts.js";
import type { Schema } from "../../facts/schema.js";
import type { Conversion, ObjectShape, ResourceDefinition, Subresource } from "../../kinds/resource-definition.js";
import {
  coerceCustomResource,
  completeSchema,
  validateCustomResource,
  validateStatus,
} from "../../schema/custom-resource.js";
import { applyDefaults } from "../../schema/defaulting.js";
import type { CrdVersion, CustomResourceDefinition } from "./custom-resource-definition.js";

/** In the real server's order. */
const VERBS = ["delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"];
const READ_ONLY_VERBS = ["delete", "deletecollection", "get", "list", "patch", "update", "watch"];

/** The resources of a CRD, one per version that is served or is the storage version. */
export function customDefinitions(
  facts: Facts,
  crd: CustomResourceDefinition,
  conversionFor: (version: string) => Conversion | undefined,
): readonly ResourceDefinition[] {
  const storage = crd.spec.versions.find((version) => version.storage)!;
  return crd.spec.versions
    .filter((version) => version.served || version.storage)
    .map((version) => customDefinition(facts, crd, version, storage.name, conversionFor(version.name)));
}

function customDefinition(
  facts: Facts,
  { spec, status, metadata }: CustomResourceDefinition,
  version: CrdVersion,
  storageVersion: string,
  conversion: Conversion | undefined,
): ResourceDefinition {
  const { group } = spec;
  const names = status?.acceptedNames ?? spec.names;
  const { kind, plural, singular = kind.toLowerCase(), listKind = `${kind}List` } = names;
  const given = version.schema?.openAPIV3Schema;
  const objectMeta = facts.schemaOf("", "v1", "Pod")!.properties!.metadata!;
  const schema = given === undefined ? undefined : completeSchema(given, objectMeta);
  const shape = customShape(facts, version, given);
  const warning = version.deprecated
    ? (version.deprecationWarning ?? `${group}/${version.name} ${kind} is deprecated`)
    : undefined;
  return {
    group,
    version: version.name,
    kind,
    listKind,
    plural,
    singular,
    shortNames: names.shortNames ?? [],
    categories: names.categories ?? [],
    namespaced: spec.scope === "Namespaced",
    // A CRD that is being deleted accepts no new objects.
    verbs: metadata.deletionTimestamp === undefined ? VERBS : READ_ONLY_VERBS,
    isServed: version.served,
    isBuiltIn: false,
    subresources: subresourcesOf(group, version, kind),
    storageId: `${group}/${plural}`,
    storageVersion,
    schema,
    ...(given !== undefined && { publishedSchema: given }),
    message: undefined,
    shape,
    strategy: {
      hasGeneration: true,
      hasStatus: version.subresources?.status !== undefined,
      allowsUnconditionalUpdate: false,
      returnsDeletedObject: false,
    },
    columns: columnsOf(facts, version),
    selectableFields: (version.selectableFields ?? []).map(({ jsonPath }) => jsonPath.slice(1)),
    ...(conversion && { convert: conversion }),
    refresh: (object) => shape.applyDefaults(shape.prune(object).object),
    storageVersionHash: storageVersionHash(group, storageVersion, kind),
    ...(warning !== undefined && { warning }),
  };
}

function storageVersionHash(group: string, version: string, kind: string): string {
  return createHash("sha256").update(`${group}/${version}/${kind}`).digest().subarray(0, 8).toString("base64");
}

function subresourcesOf(group: string, { name: version, subresources }: CrdVersion, kind: string): Subresource[] {
  const verbs = ["get", "patch", "update"];
  return [
    ...(subresources?.status ? [{ name: "status", kind, group, version, verbs }] : []),
    ...(subresources?.scale
      ? [{ name: "scale", kind: "Scale", group: "autoscaling", version: "v1", verbs, scale: subresources.scale }]
      : []),
  ];
}

function columnsOf(facts: Facts, { additionalPrinterColumns }: CrdVersion): readonly Column[] {
  const name = facts.columns("", "v1", "configmaps")[0]!;
  const columns = additionalPrinterColumns ?? [];
  if (columns.length === 0) {
    const age = facts.columns("", "v1", "configmaps").find((column) => column.name === "Age")!;
    return [name, { ...age, type: "date", jsonPath: ".metadata.creationTimestamp" }];
  }
  return [
    name,
    ...columns.map((column) => ({
      name: column.name,
      type: column.type,
      format: column.format ?? "",
      description: column.description || `Custom resource definition column (in JSONPath format): ${column.jsonPath}`,
      priority: column.priority ?? 0,
      jsonPath: column.jsonPath,
    })),
  ];
}

function customShape(facts: Facts, version: CrdVersion, schema: Schema | undefined): ObjectShape {
  const objectMeta = facts.messageNamed("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta")!;
  const scale = version.subresources?.scale;
  const rules = schema && ruleTree(schema);
  return {
    prune: (object) => {
      const { object: pruned, unknown } = coerceCustomResource(schema, asJson(object), objectMeta);
      return { object: pruned as unknown as KubeObject, unknownFields: unknown };
    },
    applyDefaults: (object) => applyDefaults(schema, asJson(object)) as unknown as KubeObject,
    validate: (object, old, subresource, warn) => {
      const value = asJson(object);
      const before = old && asJson(old);
      const isStatus = subresource === "status" && before !== undefined;
      const errors = [
        ...(schema === undefined
          ? []
          : isStatus
            ? validateStatus(schema, value, before)
            : validateCustomResource(schema, value, before)),
        ...(scale === undefined || isStatus ? [] : validateReplicas(value, scale)),
      ];
      return rules === undefined ? errors : [...errors, ...validateRules(rules, value, { old: before, errors, warn })];
    },
  };
}

/** The replicas must be readable, because the scale subresource reads them. */
function validateReplicas(object: JsonObject, scale: NonNullable<Subresource["scale"]>): readonly FieldError[] {
  return [scale.specReplicasPath, scale.statusReplicasPath].flatMap((path) => {
    const replicas = readReplicas(object, path);
    if (typeof replicas === "string") return [invalidValue(path, 0, `${path} accessor error: ${replicas}`)];
    if (replicas === undefined) return [];
    if (replicas < 0) return [invalidValue(path, replicas, "should be a non-negative integer")];
    const detail = "should be less than or equal to 2147483647";
    return replicas > 2 ** 31 - 1 ? [invalidValue(path, replicas, detail)] : [];
  });
}

/** The number at a dotted path, undefined if absent, or an error message. */
function readReplicas(object: JsonObject, path: string): number | string | undefined {
  let value: Json = object;
  for (const name of path.split(".").slice(1)) {
    if (!isObject(value)) return mismatch(value, "map[string]interface{}");
    if (!Object.hasOwn(value, name)) return undefined;
    value = value[name]!;
  }
  return typeof value === "number" && Number.isInteger(value) ? value : mismatch(value, "int64");
}

function mismatch(value: Json, expected: string): string {
  return `${goValue(value)} is of the type ${goTypeName(value)}, expected ${expected}`;
}
