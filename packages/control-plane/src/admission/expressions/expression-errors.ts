import { qualifiedName } from "setpoint/kinds";
import { fieldErrors } from "../../api/error-budget.js";
import { duplicate, invalidValue, required, tooMany } from "../../api/field-error.js";
import type { FieldError } from "../../api/status-error.js";
import { BOOL, type Type } from "../../cel/types/type.js";
import { type AdmissionScope, admissionExpression } from "./admission-expression.js";

const MAX_CONDITIONS = 64;

/** Validates an expression of an object. */
export function expressionErrors(
  text: string,
  path: string,
  scope: AdmissionScope,
  results: readonly Type[],
): readonly FieldError[] {
  if (text.trim() === "") return [required(path)];
  const { error } = admissionExpression(text, scope, results);
  return error === undefined ? [] : [invalidValue(path, text, error)];
}

/** Validates match conditions. */
export function conditionErrors(
  conditions: readonly { readonly name?: string; readonly expression?: string }[],
  path: string,
  scope: AdmissionScope,
): readonly FieldError[] {
  const errors: FieldError[] = fieldErrors();
  if (conditions.length > MAX_CONDITIONS) errors.push(tooMany(path, conditions.length, MAX_CONDITIONS));
  const names = new Set<string>();
  for (const [index, { name = "", expression = "" }] of conditions.entries()) {
    const at = `${path}[${index}]`;
    errors.push(...expressionErrors(expression, `${at}.expression`, scope, [BOOL]));
    if (name === "") errors.push(required(`${at}.name`));
    else {
      errors.push(...qualifiedName(name).map((why) => invalidValue(`${at}.name`, name, why)));
      if (names.has(name)) errors.push(duplicate(`${at}.name`, name));
      names.add(name);
    }
  }
  return errors;
}
