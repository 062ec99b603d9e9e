import type { KubeObject } from "setpoint";
import {
  type FieldRequirement,
  holdsField,
  type LabelRequirement,
  labelMatcher,
  type UntypedObject,
} from "setpoint/kinds";
import { badRequest } from "../../api/status-error.js";
import type { ResourceDefinition } from "../../kinds/resource-definition.js";
import { requestedFields, requestedLabels } from "../selectors/request-selectors.js";

/** Which objects of a resource a list, watch or deletecollection selects, besides its namespace. */
export interface ObjectFilter {
  /** Whether every object matches, so that counting need not read them. */
  readonly isEmpty: boolean;
  /** The name that the selector requires, if any. */
  readonly name: string | undefined;
  /** The namespace that the field selector requires, if any. */
  readonly namespace: string | undefined;
  matches(object: KubeObject): boolean;
}

const ALL_OBJECTS: ObjectFilter = { isEmpty: true, name: undefined, namespace: undefined, matches: () => true };

export function objectFilter(definition: ResourceDefinition, labels: string, fields: string): ObjectFilter {
  const labelTerms = labels === "" ? [] : requestedLabels(labels);
  const fieldTerms = fields === "" ? [] : requestedFields(fields);
  checkFields(definition, fieldTerms);
  return filterOf(labelTerms, fieldTerms);
}

function filterOf(labels: readonly LabelRequirement[], terms: readonly FieldRequirement[]): ObjectFilter {
  if (labels.length === 0 && terms.length === 0) return ALL_OBJECTS;
  const exact = (field: string): string | undefined =>
    terms.find((term) => term.field === field && term.operator === "=")?.value;
  const areSelected = labelMatcher(labels);
  const compared = terms.map((term) => ({ term, path: term.field.split(".") }));
  return {
    isEmpty: false,
    name: exact("metadata.name"),
    namespace: exact("metadata.namespace"),
    matches: (object) =>
      areSelected(object.metadata.labels) &&
      compared.every(({ term, path }) => holdsField(term, selectableValue(object, term.field, path))),
  };
}

const OWN_WORDS: ReadonlyMap<string, (field: string) => string> = new Map([
  ["batch/jobs", (field) => `field label "${field}" not supported for Job`],
  [
    "resource.k8s.io/resourceslices",
    (field) => `field label not supported for resource.k8s.io/v1, Kind=ResourceSlice: ${field}`,
  ],
]);

/** The error for a custom resource names only the unsupported field. Built-in kinds have their own messages. */
function checkFields(definition: ResourceDefinition, terms: readonly FieldRequirement[]): void {
  for (const { field } of terms) {
    if (field === "metadata.name") continue;
    if (field === "metadata.namespace") continue;
    if (definition.selectableFields.includes(field)) continue;
    const ownWords = OWN_WORDS.get(definition.storageId);
    if (ownWords !== undefined) throw badRequest(ownWords(field));
    if (!definition.isBuiltIn || definition.selectableFields.length > 0) {
      throw badRequest(`field label not supported: ${field}`);
    }
    throw badRequest(`"${field}" is not a known field selector: only "metadata.name", "metadata.namespace"`);
  }
}

/** The text that a field selector compares. Absent fields are empty; numbers and booleans are formatted. */
function selectableValue(object: KubeObject, field: string, path: readonly string[]): string {
  let value: unknown = object as UntypedObject;
  for (const key of path) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return absentValue(field);
    value = (value as Readonly<Record<string, unknown>>)[key];
  }
  if (typeof value === "string") return value;
  if (value === undefined || value === null || typeof value === "object") return absentValue(field);
  return String(value);
}

/** Absent booleans and counters of built-in kinds format as their zero value. */
const ZERO_VALUES: ReadonlyMap<string, string> = new Map([
  ["spec.unschedulable", "false"],
  ["spec.hostNetwork", "false"],
  ["status.replicas", "0"],
  ["status.successful", "0"],
]);

function absentValue(field: string): string {
  return ZERO_VALUES.get(field) ?? "";
}
