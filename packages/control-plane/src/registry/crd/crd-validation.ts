import { dns1035Label, dnsSubdomain, isSameJson } from "setpoint/kinds";
import { addErrors, fieldErrors } from "../../api/error-budget.js";
import { forbiddenField, invalidValue, notSupported, Printed, required } from "../../api/field-error.js";
import type { Json } from "../../api/json.js";
import type { FieldError } from "../../api/status-error.js";
import { validateCrdSchema } from "./crd-schema-validation.js";
import { validateColumns, validateScale, validateSelectableFields } from "./crd-version-validation.js";
import {
  type CrdConversion,
  type CrdNames,
  type CrdSpec,
  type CrdVersion,
  type CustomResourceDefinition,
  hasCondition,
} from "./custom-resource-definition.js";

/** Validates a new CRD, with the real server's messages and order. */
export function validateCrd(crd: CustomResourceDefinition): FieldError[] {
  const { spec, metadata, status } = crd;
  if (!spec) return [required("spec")];
  const errors: FieldError[] = fieldErrors();
  if (metadata.name !== `${spec.names.plural}.${spec.group}`) {
    errors.push(invalidValue("metadata.name", metadata.name, 'must be spec.names.plural+"."+spec.group'));
  }
  addErrors(errors, validateSpec(spec));
  addErrors(errors, validateStoredVersions(status?.storedVersions ?? [], spec.versions ?? []));
  addErrors(errors, validateApproval(crd));
  addErrors(errors, validatePreservation(spec));
  return errors;
}

/** `preserveUnknownFields` dates from CRDs without schemas. Existing CRDs may keep it; new ones must not set it. */
function validatePreservation({ preserveUnknownFields }: CrdSpec): FieldError[] {
  if (preserveUnknownFields !== true) return [];
  const detail =
    "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead";
  return [invalidValue("spec.preserveUnknownFields", true, detail)];
}

export function validateCrdStatus({ status }: CustomResourceDefinition): FieldError[] {
  return status?.acceptedNames === undefined ? [] : validateNames(status.acceptedNames, "status.acceptedNames");
}

export function validateCrdUpdate(crd: CustomResourceDefinition, old: CustomResourceDefinition): FieldError[] {
  const { spec, status } = crd;
  const errors = validateSpec(spec);
  const immutable = (field: string, value: unknown, before: unknown): void => {
    if (value !== before) errors.push(invalidValue(field, value, "field is immutable"));
  };
  if (hasCondition(old, "Established")) {
    immutable("spec.scope", spec.scope, old.spec.scope);
    immutable("spec.names.kind", spec.names.kind, old.spec.names.kind);
  }
  immutable("spec.group", spec.group, old.spec.group);
  immutable("spec.names.plural", spec.names.plural, old.spec.names.plural);
  addErrors(errors, validateStoredVersions(status?.storedVersions ?? [], spec.versions ?? []));
  if (old.spec.preserveUnknownFields !== true) addErrors(errors, validatePreservation(spec));
  return errors;
}

function validateSpec(spec: CrdSpec): FieldError[] {
  const errors: FieldError[] = [...validateGroup(spec.group ?? "")];
  if (!spec.scope) errors.push(required("spec.scope"));
  else if (spec.scope !== "Cluster" && spec.scope !== "Namespaced") {
    errors.push(notSupported("spec.scope", spec.scope, ["Cluster", "Namespaced"]));
  }
  const versions = spec.versions ?? [];
  versions.forEach(({ schema }, index) => {
    if (schema?.openAPIV3Schema === undefined) {
      errors.push(required(`spec.versions[${index}].schema.openAPIV3Schema`));
    }
  });
  if (spec.preserveUnknownFields === true && versions.some(({ schema }) => hasDefaults(schema?.openAPIV3Schema))) {
    const detail = "must be false in order to use defaults in the schema";
    errors.push(invalidValue("spec.preserveUnknownFields", true, detail));
  }
  const common = commonParts(versions);
  errors.push(
    ...versions.flatMap((version, index) => validateVersion(version, common, `spec.versions[${index}]`)),
    ...validateVersionSet(spec, common),
    ...validateNames(spec.names, "spec.names"),
  );
  const [first] = versions;
  if (first !== undefined) addErrors(errors, validateCommon(first, common));
  addErrors(errors, validateConversion(spec.conversion));
  return errors;
}

/** Parts that are equal in all versions. The real server validates and reports them only once. */
type CommonParts = Readonly<
  Record<"schema" | "subresources" | "additionalPrinterColumns" | "selectableFields", boolean>
>;

function commonParts(versions: readonly CrdVersion[]): CommonParts {
  const isCommon = (part: keyof CommonParts): boolean =>
    versions.every((version) => isSameJson(asValue(version[part]), asValue(versions[0]?.[part])));
  return {
    schema: isCommon("schema"),
    subresources: isCommon("subresources"),
    additionalPrinterColumns: isCommon("additionalPrinterColumns"),
    selectableFields: isCommon("selectableFields"),
  };
}

function asValue(value: unknown): Json {
  return (value ?? null) as Json;
}

function hasDefaults(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  return Object.entries(value).some(([key, part]) => key === "default" || hasDefaults(part));
}

function validateVersionSet({ versions, names }: CrdSpec, common: CommonParts): FieldError[] {
  const errors: FieldError[] = fieldErrors();
  const given = versions ?? null;
  const shown = given?.map((version) => internalForm(version, common)) ?? null;
  if (given !== null && new Set(given.map(({ name }) => name)).size !== given.length) {
    errors.push(versionsError(shown, "must contain unique version names"));
  }
  if ((given ?? []).filter(({ storage }) => storage).length !== 1) {
    errors.push(versionsError(shown, "must have exactly one version marked as storage version"));
  }
  const first = given?.[0]?.name;
  const complaints = first ? dns1035Label(first) : [];
  if (complaints.length > 0) errors.push(invalidValue("spec.version", first, complaints.join(",")));
  for (const field of ["plural", "singular", "kind", "listKind"] as const) {
    if (!names[field]) errors.push(required(`spec.names.${field}`));
  }
  return errors;
}

function versionsError(versions: unknown, detail: string): FieldError {
  return invalidValue("spec.versions", new Printed(() => JSON.stringify(versions)), detail);
}

/** A version as the real server prints it: its internal struct, without the parts common to all versions. */
function internalForm(version: CrdVersion, common: CommonParts): object {
  const unlessCommon = (part: keyof CommonParts): unknown => (common[part] ? null : (version[part] ?? null));
  return {
    Name: version.name ?? "",
    Served: version.served ?? false,
    Storage: version.storage ?? false,
    Deprecated: version.deprecated ?? false,
    DeprecationWarning: version.deprecationWarning ?? null,
    Schema: unlessCommon("schema"),
    Subresources: unlessCommon("subresources"),
    AdditionalPrinterColumns: unlessCommon("additionalPrinterColumns"),
    SelectableFields: unlessCommon("selectableFields"),
  };
}

function validateGroup(group: string): FieldError[] {
  if (group === "") return [required("spec.group")];
  const complaints = dnsSubdomain(group);
  if (complaints.length > 0) return [invalidValue("spec.group", group, complaints.join(","))];
  if (!group.includes(".")) return [invalidValue("spec.group", group, "should be a domain with at least one dot")];
  return [];
}

function validateVersion(version: CrdVersion, common: CommonParts, path: string): FieldError[] {
  const errors: FieldError[] = fieldErrors();
  const nameComplaints = dns1035Label(version.name ?? "");
  if (nameComplaints.length > 0)
    errors.push(invalidValue(`${path}.name`, version.name ?? "", nameComplaints.join(",")));
  if (version.deprecationWarning !== undefined && !version.deprecated) {
    const detail = "can only be set for deprecated versions";
    errors.push(invalidValue(`${path}.deprecationWarning`, version.deprecationWarning, detail));
  }
  if (!common.schema) addErrors(errors, validateSchemaOf(version, `${path}.schema`));
  if (!common.subresources) addErrors(errors, validateScale(version, `${path}.subresources.scale`));
  if (!common.additionalPrinterColumns) addErrors(errors, validateColumns(version, `${path}.additionalPrinterColumns`));
  if (!common.selectableFields) addErrors(errors, validateSelectableFields(version, `${path}.selectableFields`));
  return errors;
}

function validateCommon(version: CrdVersion, common: CommonParts): FieldError[] {
  return [
    ...(common.schema ? validateSchemaOf(version, "spec.validation") : []),
    ...(common.subresources ? validateScale(version, "spec.subresources.scale") : []),
    ...(common.additionalPrinterColumns ? validateColumns(version, "spec.additionalPrinterColumns") : []),
    ...(common.selectableFields ? validateCommonSelectableFields(version, common) : []),
  ];
}

function validateCommonSelectableFields(version: CrdVersion, common: CommonParts): FieldError[] {
  const { selectableFields = [], schema } = version;
  if (selectableFields.length > 0 && (!common.schema || schema?.openAPIV3Schema === undefined)) {
    return [invalidValue("spec.selectableFields", "", "may only be set when validations.schema is included")];
  }
  return validateSelectableFields(version, "spec.selectableFields");
}

function validateSchemaOf({ schema, subresources }: CrdVersion, path: string): FieldError[] {
  if (schema?.openAPIV3Schema === undefined) return [];
  return validateCrdSchema(schema.openAPIV3Schema, `${path}.openAPIV3Schema`, subresources?.status !== undefined);
}

function validateNames(names: CrdNames, path: string): FieldError[] {
  const errors: FieldError[] = fieldErrors();
  const mixed = (field: string, value: string | undefined): void => {
    if (!value) return;
    const complaints = dns1035Label(value.toLowerCase());
    const detail = `may have mixed case, but should otherwise match: ${complaints.join(",")}`;
    if (complaints.length > 0) errors.push(invalidValue(field, value, detail));
  };
  const lower = (field: string, value: string | undefined): void => {
    if (!value) return;
    const complaints = dns1035Label(value);
    if (complaints.length > 0) errors.push(invalidValue(field, value, complaints.join(",")));
  };
  lower(`${path}.plural`, names.plural);
  lower(`${path}.singular`, names.singular);
  mixed(`${path}.kind`, names.kind);
  mixed(`${path}.listKind`, names.listKind);
  for (const [index, name] of (names.shortNames ?? []).entries()) lower(`${path}.shortNames[${index}]`, name);
  if (names.kind && names.kind === names.listKind) {
    errors.push(invalidValue(`${path}.listKind`, names.listKind, "kind and listKind may not be the same"));
  }
  for (const [index, name] of (names.categories ?? []).entries()) lower(`${path}.categories[${index}]`, name);
  return errors;
}

function validateConversion(conversion: CrdConversion | undefined): FieldError[] {
  if (conversion === undefined) return [];
  const field = "spec.conversion";
  const { strategy, webhook } = conversion;
  if (!strategy) return [required(`${field}.strategy`)];
  if (strategy !== "None" && strategy !== "Webhook") {
    return [notSupported(`${field}.strategy`, strategy, ["None", "Webhook"])];
  }
  if (strategy === "None") {
    if (webhook === undefined) return [];
    return [forbiddenField(`${field}.webhook`, "should not be set when strategy is not set to Webhook")];
  }
  const config = webhook?.clientConfig;
  const errors: FieldError[] = fieldErrors();
  if (config === undefined) {
    errors.push(required(`${field}.webhookClientConfig`, "required when strategy is set to Webhook"));
  } else if ((config.url === undefined) === (config.service === undefined)) {
    errors.push(required(`${field}.webhookClientConfig`, "exactly one of url or service is required"));
  }
  addErrors(
    errors,
    validateReviewVersions(webhook?.conversionReviewVersions ?? [], `${field}.conversionReviewVersions`),
  );
  return errors;
}

function validateReviewVersions(versions: readonly string[], field: string): FieldError[] {
  if (versions.length === 0) return [required(field)];
  const errors: FieldError[] = fieldErrors();
  versions.forEach((version, index) => {
    if (versions.indexOf(version) < index)
      errors.push(invalidValue(`${field}[${index}]`, version, "duplicate version"));
    else for (const text of dns1035Label(version)) errors.push(invalidValue(`${field}[${index}]`, version, text));
  });
  if (!versions.includes("v1") && !versions.includes("v1beta1")) {
    errors.push(invalidValue(field, versions, "must include at least one of v1, v1beta1"));
  }
  return errors;
}

function validateStoredVersions(stored: readonly string[], versions: readonly CrdVersion[]): FieldError[] {
  const field = "status.storedVersions";
  if (stored.length === 0) return [invalidValue(field, null, "must have at least one stored version")];
  // Of two versions with the same name, only the first counts.
  const isFound = ({ name }: CrdVersion, index: number): boolean =>
    stored.includes(name) && versions.findIndex((each) => each.name === name) === index;
  const missing = versions.flatMap((version, index) => {
    if (!version.storage || isFound(version, index)) return [];
    return [invalidValue(field, stored, `must have the storage version ${version.name}`)];
  });
  const removed = stored.flatMap((version, index) => {
    if (versions.some(({ name }) => name === version)) return [];
    const detail = `missing from spec.versions; ${version} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in ${version} and removes ${version} from status.storedVersions`;
    return [invalidValue(`${field}[${index}]`, version, detail)];
  });
  return [...missing, ...removed];
}

const APPROVAL = "api-approved.kubernetes.io";

/** Groups of the Kubernetes project need an approval annotation. */
function validateApproval({ spec, metadata }: CustomResourceDefinition): FieldError[] {
  const isProtected = /(?:^|\.)(?:k8s|kubernetes)\.io$/.test(spec.group ?? "");
  if (!isProtected) return [];
  const approval = metadata.annotations?.[APPROVAL];
  const field = `metadata.annotations[${APPROVAL}]`;
  if (approval === undefined) {
    return [
      required(
        field,
        `protected groups must have approval annotation "${APPROVAL}", see https://github.com/kubernetes/enhancements/pull/1111`,
      ),
    ];
  }
  if (approval.startsWith("unapproved") || URL.canParse(approval)) return [];
  return [
    invalidValue(
      field,
      approval,
      `protected groups must have approval annotation "${APPROVAL}" with either a URL or a reason starting with "unapproved", see https://github.com/kubernetes/enhancements/pull/1111`,
    ),
  ];
}
