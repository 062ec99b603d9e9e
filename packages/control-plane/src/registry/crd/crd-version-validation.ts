import { addErrors, fieldErrors } from "../../api/error-budget.js";
import { duplicate, invalidValue, required, tooMany } from "../../api/field-error.js";
import type { FieldError } from "../../api/status-error.js";
import type { Schema } from "../../facts/schema.js";
import type { CrdVersion } from "./custom-resource-definition.js";

const COLUMN_TYPES = ["boolean", "date", "integer", "number", "string"];
const COLUMN_FORMATS = ["byte", "date", "date-time", "double", "float", "int32", "int64", "password"];
const MAX_SELECTABLE_FIELDS = 8;

export function validateColumns({ additionalPrinterColumns = [] }: CrdVersion, path: string): FieldError[] {
  return additionalPrinterColumns.flatMap((column, index) => {
    const field = `${path}[${index}]`;
    const errors: FieldError[] = fieldErrors();
    if (!column.name) errors.push(required(`${field}.name`));
    const types = `must be one of ${COLUMN_TYPES.join(",")}`;
    if (!column.type) errors.push(required(`${field}.type`, types));
    else if (!COLUMN_TYPES.includes(column.type)) errors.push(invalidValue(`${field}.type`, column.type, types));
    if (column.format && !COLUMN_FORMATS.includes(column.format)) {
      errors.push(invalidValue(`${field}.format`, column.format, `must be one of ${COLUMN_FORMATS.join(",")}`));
    }
    if (!column.jsonPath) errors.push(required(`${field}.JSONPath`));
    else addErrors(errors, validateDotPath(column.jsonPath, `${field}.JSONPath`));
    return errors;
  });
}

export function validateScale({ subresources }: CrdVersion, path: string): FieldError[] {
  const scale = subresources?.scale;
  if (scale === undefined || scale === null) return [];
  const errors: FieldError[] = fieldErrors();
  const check = (field: string, value: string | undefined, parents: readonly string[], where: string): void => {
    if (!value) {
      errors.push(required(`${path}.${field}`));
      return;
    }
    const found = validateDotPath(value, `${path}.${field}`);
    addErrors(errors, found);
    if (found.length === 0 && !parents.some((parent) => value.startsWith(parent))) {
      errors.push(invalidValue(`${path}.${field}`, value, `should be a json path under ${where}`));
    }
  };
  check("specReplicasPath", scale.specReplicasPath, [".spec."], ".spec");
  check("statusReplicasPath", scale.statusReplicasPath, [".status."], ".status");
  if (scale.labelSelectorPath) {
    check("labelSelectorPath", scale.labelSelectorPath, [".spec.", ".status."], "either .spec or .status");
  }
  return errors;
}

function validateDotPath(value: string, field: string): FieldError[] {
  return value.startsWith(".") ? [] : [invalidValue(field, value, "must be a simple json path starting with .")];
}

export function validateSelectableFields({ selectableFields = [], schema }: CrdVersion, path: string): FieldError[] {
  const errors: FieldError[] = fieldErrors();
  const seen = new Set<string>();
  selectableFields.forEach(({ jsonPath }, index) => {
    const field = `${path}[${index}].jsonPath`;
    if (!jsonPath) {
      errors.push(required(field));
      return;
    }
    const found = schemaAt(schema?.openAPIV3Schema, jsonPath);
    if (typeof found === "string") {
      errors.push(invalidValue(field, jsonPath, `is an invalid path: ${found}`));
      return;
    }
    if (jsonPath.startsWith(".metadata")) {
      errors.push(invalidValue(field, jsonPath, "must not point to fields in metadata"));
    }
    if (!["string", "boolean", "integer"].includes(found.type ?? "")) {
      const detail =
        "must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.";
      errors.push(invalidValue(field, jsonPath, detail));
    }
    if (seen.has(jsonPath)) errors.push(duplicate(field, jsonPath));
    seen.add(jsonPath);
  });
  if (seen.size > MAX_SELECTABLE_FIELDS) errors.push(tooMany(path, seen.size, MAX_SELECTABLE_FIELDS));
  return errors;
}

/** The schema at a path, or an error message. */
function schemaAt(root: Schema | undefined, path: string): Schema | string {
  let schema = root;
  for (const name of path.split(".").slice(1)) {
    const next = schema?.properties?.[name];
    if (next === undefined) return `does not refer to a valid field`;
    schema = next;
  }
  return schema ?? "does not refer to a valid field";
}
