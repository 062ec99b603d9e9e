import type {
  Status as ClientStatus,
  StatusCause as ClientStatusCause,
  StatusDetails as ClientStatusDetails,
} from "setpoint/client";
import { cut, ERROR_BUDGET, withinBudget } from "./error-budget.js";

/** The body of an error response, with all fields that a server sets. */
export interface Status extends ClientStatus {
  readonly apiVersion: "v1";
  readonly metadata: Record<string, never>;
  readonly status: "Failure";
  readonly message: string;
  readonly details?: StatusDetails;
  readonly code: number;
}

export interface StatusDetails extends ClientStatusDetails {
  readonly causes?: readonly StatusCause[];
}

export interface StatusCause extends ClientStatusCause {
  readonly message: string;
}

/** An error with its response. Any layer may throw it. The response is its `status`, in the real server's wording. */
export class StatusError extends Error {
  override readonly name = "StatusError";
  readonly status: Status;
  /** For the 410 of a list: a continue token with which the client can go on without consistency. */
  readonly continueToken?: string;

  constructor(
    code: number,
    reason: string | undefined,
    message: string,
    details?: StatusDetails,
    continueToken?: string,
  ) {
    const shown = cut(message);
    // Skip the stack trace. Nobody reads it, and it would cost a quarter of the time of an error response.
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(shown);
    Error.stackTraceLimit = stackTraceLimit;
    this.status = {
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Failure",
      message: shown,
      ...(reason === undefined ? {} : { reason }),
      ...(details === undefined ? {} : { details: boundedDetails(details) }),
      code,
    };
    if (continueToken !== undefined) this.continueToken = continueToken;
  }
}

function boundedDetails(details: StatusDetails): StatusDetails {
  const { name = "", causes = [] } = details;
  const isNameLong = name.length > ERROR_BUDGET.valueCharacters;
  const isLong = causes.some(({ message }) => message.length > ERROR_BUDGET.characters);
  if (!isNameLong && !isLong && causes.length <= ERROR_BUDGET.causes) return details;
  return {
    ...details,
    ...(isNameLong && { name: cut(name, ERROR_BUDGET.valueCharacters) }),
    causes: causes.slice(0, ERROR_BUDGET.causes).map((cause) => ({ ...cause, message: cut(cause.message) })),
  };
}

/** One problem with one field. `invalid` turns a list of them into a 422 response. */
export interface FieldError {
  readonly type:
    | "FieldValueRequired"
    | "FieldValueInvalid"
    | "FieldValueNotSupported"
    | "FieldValueDuplicate"
    | "FieldValueForbidden"
    | "FieldValueTooLong"
    | "FieldValueTooMany"
    | "FieldValueTypeInvalid"
    | "FieldValueNotFound"
    | "InternalError";
  /** `spec.containers[0].name` */
  readonly field: string;
  /** The rest of the sentence after `field: `, in the real server's wording: `Required value`, `Invalid value: "x": …`. */
  readonly detail: string;
}

/** The resource (`deployments`) or kind (`Deployment`) that an error names, with its group. */
export interface QualifiedName {
  readonly group: string;
  readonly resource: string;
}

function qualified({ group, resource }: QualifiedName): string {
  return group === "" ? resource : `${resource}.${group}`;
}

function detailsOf({ group, resource }: QualifiedName, name: string, rest: StatusDetails = {}): StatusDetails {
  return {
    ...(name === "" ? {} : { name }),
    ...(group === "" ? {} : { group }),
    ...(resource === "" ? {} : { kind: resource }),
    ...rest,
  };
}

export function notFound(of: QualifiedName, name: string): StatusError {
  return new StatusError(404, "NotFound", `${qualified(of)} "${name}" not found`, detailsOf(of, name));
}

/** The 404 for an unknown resource in a known group. */
export function unknownResource(): StatusError {
  return new StatusError(404, "NotFound", "the server could not find the requested resource", {});
}

export function methodNotAllowed(): StatusError {
  const message = "the server does not allow this method on the requested resource";
  return new StatusError(405, "MethodNotAllowed", message, {});
}

export function alreadyExists(of: QualifiedName, name: string): StatusError {
  return new StatusError(409, "AlreadyExists", `${qualified(of)} "${name}" already exists`, detailsOf(of, name));
}

/** The 409 if all generated names are taken. */
export function generateNameConflict(of: QualifiedName, name: string): StatusError {
  const message = `${qualified(of)} "${name}" already exists, the server was not able to generate a unique name for the object`;
  return new StatusError(409, "AlreadyExists", message, detailsOf(of, name, { retryAfterSeconds: 1 }));
}

const OPTIMISTIC_LOCK_MESSAGE =
  "the object has been modified; please apply your changes to the latest version and try again";

export function conflict(of: QualifiedName, name: string, why: string = OPTIMISTIC_LOCK_MESSAGE): StatusError {
  const message = `Operation cannot be fulfilled on ${qualified(of)} "${name}": ${why}`;
  return new StatusError(409, "Conflict", message, detailsOf(of, name));
}

export function forbidden(of: QualifiedName, name: string, why: string, causes?: readonly StatusCause[]): StatusError {
  const subject = name === "" ? qualified(of) : `${qualified(of)} "${name}"`;
  const rest = causes === undefined ? {} : { causes };
  const details = of.resource === "" ? {} : detailsOf(of, name, rest);
  const message = of.resource === "" ? `forbidden: ${why}` : `${subject} is forbidden: ${why}`;
  return new StatusError(403, "Forbidden", message, details);
}

export function badRequest(message: string): StatusError {
  return new StatusError(400, "BadRequest", message);
}

/** The real server's response to an error without a status: code 500 and no reason. */
export function unexpected(message: string): StatusError {
  return new StatusError(500, undefined, message);
}

export function internalError(message: string): StatusError {
  return new StatusError(500, "InternalError", `Internal error occurred: ${message}`, { causes: [{ message }] });
}

export function unauthorized(): StatusError {
  return new StatusError(401, "Unauthorized", "Unauthorized");
}

export function unsupportedMediaType(accepted: readonly string[]): StatusError {
  const message = `the body of the request was in an unknown format - accepted media types include: ${accepted.join(", ")}`;
  return new StatusError(415, "UnsupportedMediaType", message);
}

export function notAcceptable(accepted: readonly string[]): StatusError {
  const message = `only the following media types are accepted: ${accepted.join(", ")}`;
  return new StatusError(406, "NotAcceptable", message);
}

/** The 410 for history that is compacted. */
export function expired(message: string, continueToken?: string): StatusError {
  return new StatusError(410, "Expired", message, undefined, continueToken);
}

export function timeout(why: string, retryAfterSeconds: number, causes?: readonly StatusCause[]): StatusError {
  const details = { ...(causes === undefined ? {} : { causes }), retryAfterSeconds };
  return new StatusError(504, "Timeout", `Timeout: ${why}`, details);
}

export function tooLargeResourceVersion(requested: number | bigint, current: number): StatusError {
  const cause = { reason: "ResourceVersionTooLarge", message: "Too large resource version" };
  return timeout(`Too large resource version: ${requested}, current: ${current}`, 1, [cause]);
}

export function tooManyRequests(
  message: string,
  retryAfterSeconds: number,
  causes?: readonly StatusCause[],
): StatusError {
  const details = {
    ...(causes === undefined ? {} : { causes }),
    ...(retryAfterSeconds > 0 ? { retryAfterSeconds } : {}),
  };
  return new StatusError(429, "TooManyRequests", message, details);
}

/** The 422 response. `of.resource` is a kind here: `Deployment`. */
export function invalid(of: QualifiedName, name: string, errors: readonly FieldError[]): StatusError {
  const { shown, isCut } = withinBudget(errors);
  const causes = shown.map(({ type, field, detail }) => ({ reason: type, message: detail, field }));
  const message = `${qualified(of)} "${name}" is invalid: ${sentences(shown, isCut)}`;
  return new StatusError(422, "Invalid", message, detailsOf(of, name, { causes }));
}

/** Joins errors without duplicates: `a: x`, `[a: x, b: y]`. */
export function aggregate(errors: readonly FieldError[]): string {
  const { shown, isCut } = withinBudget(errors);
  return sentences(shown, isCut);
}

function sentences(errors: readonly FieldError[], isCut: boolean): string {
  const all = [...new Set(errors.map(({ field, detail }) => `${field}: ${detail}`)), ...(isCut ? ["and more"] : [])];
  return all.length === 1 ? all[0]! : `[${all.join(", ")}]`;
}
