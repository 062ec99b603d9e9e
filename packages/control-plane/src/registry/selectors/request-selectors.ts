import {
  type FieldRequirement,
  type LabelRequirement,
  parseFieldSelector,
  parseLabelSelector,
  SelectorError,
} from "setpoint/kinds";
import { invalidValue } from "../../api/field-error.js";
import { aggregate, badRequest } from "../../api/status-error.js";

/** Parses a `labelSelector`. Throws the real server's 400. */
export function requestedLabels(text: string): readonly LabelRequirement[] {
  return refusedAsBadRequest(() => parseLabelSelector(text));
}

/** Parses a `fieldSelector`. Throws the real server's 400. The kind decides which fields exist. */
export function requestedFields(text: string): readonly FieldRequirement[] {
  return refusedAsBadRequest(() => parseFieldSelector(text));
}

function refusedAsBadRequest<T>(parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    if (!(error instanceof SelectorError)) throw error;
    const { why, parts } = error;
    if (parts.length === 0) throw badRequest(why);
    const errors = parts.map(({ field, value, detail }) => invalidValue(field, value, detail));
    throw badRequest(`${why}: ${aggregate(errors)}`);
  }
}
