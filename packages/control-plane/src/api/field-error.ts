import { cut, ERROR_BUDGET } from "./error-budget.js";
import { goJson, goQuote } from "./go-format.js";
import type { Json } from "./json.js";
import type { FieldError } from "./status-error.js";

/** A value with its own text, which is formatted only if a response shows it. */
export class Printed {
  readonly text: () => string;

  constructor(text: () => string) {
    this.text = text;
  }
}

/** Formats a value like the real server's field errors. */
function printed(value: unknown): string {
  const most = ERROR_BUDGET.valueCharacters;
  if (value instanceof Printed) return cut(value.text(), most);
  if (typeof value === "string")
    return value.length <= most ? goQuote(value) : cut(goQuote(value.slice(0, 2 * most)), most);
  if (value === undefined || value === null) return "null";
  return cut(goJson(value as Json), most);
}

/**
 * An error whose text is formatted when it is read. A request may have many errors that each quote all of it, and a
 * response shows only a few.
 */
export function fieldError(type: FieldError["type"], field: string, text: () => string): FieldError {
  return {
    type,
    field,
    get detail() {
      return text();
    },
  };
}

/** The same error about another field. */
export function placed(error: FieldError, field: string): FieldError {
  return fieldError(error.type, field, () => error.detail);
}

function sentence(start: string, detail: string): string {
  return detail === "" ? start : `${start}: ${detail}`;
}

export function required(field: string, detail = ""): FieldError {
  return { type: "FieldValueRequired", field, detail: sentence("Required value", detail) };
}

export function invalidValue(field: string, value: unknown, detail: string): FieldError {
  return fieldError("FieldValueInvalid", field, () => sentence(`Invalid value: ${printed(value)}`, detail));
}

export function notSupported(field: string, value: unknown, supported: readonly string[]): FieldError {
  return fieldError("FieldValueNotSupported", field, () => {
    const detail = supported.length === 0 ? "" : `supported values: ${supported.map(goQuote).join(", ")}`;
    return sentence(`Unsupported value: ${printed(value)}`, detail);
  });
}

export function duplicate(field: string, value: unknown): FieldError {
  return fieldError("FieldValueDuplicate", field, () => `Duplicate value: ${printed(value)}`);
}

export function notFound(field: string, value: unknown): FieldError {
  return fieldError("FieldValueNotFound", field, () => `Not found: ${printed(value)}`);
}

export function forbiddenField(field: string, detail: string): FieldError {
  return { type: "FieldValueForbidden", field, detail: sentence("Forbidden", detail) };
}

/** Omits the value, because it is long. */
export function tooLong(field: string, maxBytes: number): FieldError {
  const detail = `may not be more than ${maxBytes} ${maxBytes === 1 ? "byte" : "bytes"}`;
  return { type: "FieldValueTooLong", field, detail: `Too long: ${detail}` };
}

export function tooMany(field: string, actual: number, max: number): FieldError {
  const items = `must have at most ${max} ${max === 1 ? "item" : "items"}`;
  return { type: "FieldValueTooMany", field, detail: `Too many: ${actual}: ${items}` };
}

export function typeInvalid(field: string, value: unknown, detail: string): FieldError {
  return fieldError("FieldValueTypeInvalid", field, () => sentence(`Invalid value: ${printed(value)}`, detail));
}

export function internalError(field: string, detail: string): FieldError {
  return { type: "InternalError", field, detail: sentence("Internal error", detail) };
}

/** An error that shows no value. */
export function invalidWithoutValue(field: string, detail: string): FieldError {
  return { type: "FieldValueInvalid", field, detail: `Invalid value: ${detail}` };
}
