import { fieldErrors } from "../../api/error-budget.js";
import { forbiddenField, notSupported } from "../../api/field-error.js";
import { parseBoolean, parseInteger } from "../../api/query-value.js";
import { badRequest, type FieldError, invalid } from "../../api/status-error.js";

/** The query of a list or a watch. */
export interface ListOptions {
  readonly labelSelector: string;
  readonly fieldSelector: string;
  readonly isWatch: boolean;
  readonly allowsBookmarks: boolean;
  readonly resourceVersion: string;
  readonly resourceVersionMatch: string;
  readonly timeoutSeconds: number | undefined;
  readonly limit: number;
  readonly continue: string;
  readonly sendInitialEvents: boolean | undefined;
}

export function parseListOptions(query: URLSearchParams): ListOptions {
  const sendInitialEvents = query.get("sendInitialEvents");
  const timeout = query.get("timeoutSeconds");
  const options: ListOptions = {
    labelSelector: query.get("labelSelector") ?? "",
    fieldSelector: query.get("fieldSelector") ?? "",
    isWatch: parseBoolean(query.get("watch")),
    allowsBookmarks: parseBoolean(query.get("allowWatchBookmarks")),
    resourceVersion: query.get("resourceVersion") ?? "",
    resourceVersionMatch: query.get("resourceVersionMatch") ?? "",
    timeoutSeconds: timeout === null ? undefined : parseInteger(timeout),
    limit: parseInteger(query.get("limit") ?? "0"),
    continue: query.get("continue") ?? "",
    sendInitialEvents: sendInitialEvents === null ? undefined : parseBoolean(sendInitialEvents),
  };
  const errors = options.isWatch ? watchErrors(options) : listErrors(options);
  if (errors.length > 0) throw invalid({ group: "meta.k8s.io", resource: "ListOptions" }, "", errors);
  return options;
}

const MATCH = "resourceVersionMatch";

function listErrors(options: ListOptions): FieldError[] {
  const errors: FieldError[] = fieldErrors();
  const { resourceVersionMatch: match, resourceVersion } = options;
  if (match !== "") {
    if (resourceVersion === "") {
      errors.push(forbiddenField(MATCH, "resourceVersionMatch is forbidden unless resourceVersion is provided"));
    }
    if (options.continue !== "") {
      errors.push(forbiddenField(MATCH, "resourceVersionMatch is forbidden when continue is provided"));
    }
    if (match !== "Exact" && match !== "NotOlderThan") {
      errors.push(notSupported(MATCH, match, ["Exact", "NotOlderThan", ""]));
    }
    if (match === "Exact" && resourceVersion === "0") {
      errors.push(forbiddenField(MATCH, 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'));
    }
  }
  if (options.sendInitialEvents !== undefined) {
    errors.push(forbiddenField("sendInitialEvents", "sendInitialEvents is forbidden for list"));
  }
  return errors;
}

function watchErrors(options: ListOptions): FieldError[] {
  const errors: FieldError[] = fieldErrors();
  const { resourceVersionMatch: match, sendInitialEvents } = options;
  if (sendInitialEvents !== undefined && match !== "NotOlderThan") {
    errors.push(forbiddenField(MATCH, "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"));
  }
  if (match !== "") {
    if (sendInitialEvents === undefined) {
      const detail = "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided";
      errors.push(forbiddenField(MATCH, detail));
    }
    if (match !== "NotOlderThan") errors.push(notSupported(MATCH, match, ["NotOlderThan"]));
    if (options.continue !== "") {
      errors.push(forbiddenField(MATCH, "resourceVersionMatch is forbidden when continue is provided"));
    }
  }
  return errors;
}

/** Parses a resourceVersion in a query: a decimal number, or zero if empty. */
export function parseResourceVersion(text: string): number {
  const why = unparsableResourceVersion(text);
  if (why !== undefined) throw badRequest(`invalid resource version: ${why}`);
  return Number(text);
}

const UINT64 = 2 ** 64;

/** Why a resourceVersion is invalid. Undefined if it is empty or fits into a uint64. */
export function unparsableResourceVersion(text: string): string | undefined {
  const isNumber = /^\d+$/.test(text);
  if (text === "" || (isNumber && Number(text) < UINT64)) return undefined;
  const why = isNumber ? "value out of range" : "invalid syntax";
  const shown = JSON.stringify(text);
  return `resourceVersion: Invalid value: ${shown}: strconv.ParseUint: parsing ${shown}: ${why}`;
}
