import { goJson, goQuote } from "../schema/go-format.js";
import type { Json } from "../schema/json.js";
import type { FieldError } from "./status-error.js";

/** A value whose text is made already. */
export class Printed {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** A value as the real server's field errors print it. */
function printed(value: unknown): string {
  if (value instanceof Printed) return value.text;
  if (typeof value === "string") return goQuote(value);
  if (value === undefined || value === null) return "null";
  return goJson(value as Json);
}

function sentence(start: string, detail: string): string {
  return detail === "" ? start : `${start}: ${detail}`;
}

export function required(field: string, detail = ""): FieldError {
  return { type: "FieldValueRequired", field, detail: sentence("Required value", detail) };
}

export function invalidValue(field: string, value: unknown, detail: string): FieldError {
  return { type: "FieldValueInvalid", field, detail: sentence(`Invalid value: ${printed(value)}`, detail) };
}

export function notSupported(field: string, value: unknown, supported: readonly string[]): FieldError {
  const detail = supported.length === 0 ? "" : `supported values: ${supported.map(goQuote).join(", ")}`;
  return { type: "FieldValueNotSupported", field, detail: sentence(`Unsupported value: ${printed(value)}`, detail) };
}

export function duplicate(field: string, value: unknown): FieldError {
  return { type: "FieldValueDuplicate", field, detail: `Duplicate value: ${printed(value)}` };
}

export function notFound(field: string, value: unknown): FieldError {
  return { type: "FieldValueNotFound", field, detail: `Not found: ${printed(value)}` };
}

export function forbiddenField(field: string, detail: string): FieldError {
  return { type: "FieldValueForbidden", field, detail: sentence("Forbidden", detail) };
}

/** The value itself is never printed: it is long. */
export function tooLong(field: string, maxBytes: number): FieldError {
  const detail = `may not be more than ${maxBytes} ${maxBytes === 1 ? "byte" : "bytes"}`;
  return { type: "FieldValueTooLong", field, detail: `Too long: ${detail}` };
}

export function tooMany(field: string, actual: number, max: number): FieldError {
  const items = `must have at most ${max} ${max === 1 ? "item" : "items"}`;
  return { type: "FieldValueTooMany", field, detail: `Too many: ${actual}: ${items}` };
}

export function typeInvalid(field: string, value: unknown, detail: string): FieldError {
  return { type: "FieldValueTypeInvalid", field, detail: sentence(`Invalid value: ${printed(value)}`, detail) };
}

export function internalError(field: string, detail: string): FieldError {
  return { type: "InternalError", field, detail: sentence("Internal error", detail) };
}

/** An error that shows no value. */
export function invalidWithoutValue(field: string, detail: string): FieldError {
  return { type: "FieldValueInvalid", field, detail: `Invalid value: ${detail}` };
}
