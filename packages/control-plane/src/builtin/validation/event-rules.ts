import { fieldErrors } from "../../api/error-budget.js";
import { invalidValue, required } from "../../api/field-error.js";
import { isObject, type Json, type JsonObject } from "../../api/json.js";
import type { FieldError } from "../../api/status-error.js";
import { toCoreEvent } from "../event-conversion.js";
import { internal } from "./internal-struct.js";
import { IMMUTABLE, isEmpty, object, qualified, type Rule, subdomain, type UpdateRule } from "./rule.js";

const LIMITS: Readonly<Record<string, number>> = { reportingInstance: 128, action: 128, reason: 128 };
const MAX_MESSAGE = 1024;
const DEFAULT = "default";
const SYSTEM = "kube-system";

/** Rules for every event. An event of the newer form, which has an eventTime, has more. */
function commonErrors(event: JsonObject, controllerField: string): FieldError[] {
  const errors: FieldError[] = fieldErrors();
  const own = String(object(event.metadata).namespace ?? "");
  const theirs = String(object(event.involvedObject).namespace ?? "");
  const isNewer = !isEmpty(event.eventTime);
  const allowed = isNewer ? [DEFAULT, SYSTEM] : ["", DEFAULT];
  const agrees = theirs === "" ? allowed.includes(own) : isNewer || own === theirs;
  if (!agrees) errors.push(invalidValue("involvedObject.namespace", theirs, "does not match event.namespace"));
  if (isNewer) errors.push(...newerErrors(event, controllerField));
  subdomain(own, "namespace", errors);
  return errors;
}

function newerErrors(event: JsonObject, controllerField: string): readonly FieldError[] {
  const errors: FieldError[] = fieldErrors();
  const controller = event.reportingComponent ?? "";
  if (controller === "") errors.push(required(controllerField));
  qualified(controller, controllerField, errors);
  for (const [name, most] of Object.entries(LIMITS)) {
    const text = String(event[name] ?? "");
    if (text === "") errors.push(required(name));
    if (text.length > most) errors.push(invalidValue(name, "", `can have at most ${most} characters`));
  }
  if (String(event.message ?? "").length > MAX_MESSAGE) {
    errors.push(invalidValue("message", "", `can have at most ${MAX_MESSAGE} characters`));
  }
  return errors;
}

function seriesErrors({ series }: JsonObject): readonly FieldError[] {
  if (!isObject(series)) return [];
  return [
    ...(Number(series.count ?? 0) < 2 ? [invalidValue("series.count", "", "should be at least 2")] : []),
    ...(isEmpty(series.lastObservedTime) ? [required("series.lastObservedTime")] : []),
  ];
}

const UNSET = "needs to be unset";

/** Further rules of `events.k8s.io` for new events. */
function strictErrors(event: JsonObject): readonly FieldError[] {
  const { eventTime, type = "", source } = event;
  const { component, host } = object(source);
  const old = ["firstTimestamp", "lastTimestamp", "count"].filter((name) => !isEmpty(event[name]) && event[name] !== 0);
  return [
    ...seriesErrors(event),
    ...(isEmpty(eventTime) ? [required("eventTime")] : []),
    ...(type === "Normal" || type === "Warning" ? [] : [invalidValue("type", "", `has invalid value: ${type}`)]),
    ...old.map((name) => invalidValue(name, "", UNSET)),
    ...(component || host ? [invalidValue("source", "", UNSET)] : []),
  ];
}

/** Immutable fields of an `events.k8s.io` event, with the type that messages show. */
const KEPT: readonly (readonly [field: string, shown: string, name?: string])[] = [
  ["involvedObject", "core.ObjectReference"],
  ["reason", '""'],
  ["message", '""'],
  ["source", "core.EventSource"],
  ["firstTimestamp", "null"],
  ["lastTimestamp", "null"],
  ["count", "0"],
  ["reason", '""'],
  ["type", '""'],
  ["eventTime", "null"],
  ["action", '""'],
  ["related", "*core.ObjectReference"],
  ["reportingComponent", '""', "reportingController"],
  ["reportingInstance", '""'],
];

/** An `events.k8s.io` event is immutable, except for its series. */
export const eventUpdate: UpdateRule = (changed, old) => {
  const [event, before] = [toCoreEvent(changed), toCoreEvent(old)];
  const shown = (of: JsonObject, field: string, type: string): string => internal(type, of[field]).text();
  const isSeriesKept = shown(event, "series", "null") === shown(before, "series", "null");
  return [
    ...(isSeriesKept ? [] : seriesErrors(event)),
    ...KEPT.filter(([field, type]) => shown(event, field, type) !== shown(before, field, type)).map(
      ([field, type, name = field]) => invalidValue(name, internal(type, event[field]), IMMUTABLE),
    ),
  ];
};

export const eventRules: Readonly<Record<string, Rule>> = {
  "/events": (value, _path, errors) => void errors.push(...commonErrors(object(value), "reportingComponent")),
  "events.k8s.io/events": (value: Json | undefined, _path, errors) => {
    const event = toCoreEvent(object(value));
    errors.push(...commonErrors(event, "reportingController"), ...strictErrors(event));
  },
};

/** An update of an `events.k8s.io` event is validated by the common rules and for immutable fields. */
export const changedEventRule: Rule = (value, _path, errors) =>
  void errors.push(...commonErrors(toCoreEvent(object(value)), "reportingController"));
