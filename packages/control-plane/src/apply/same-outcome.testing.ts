import { expect } from "vitest";
import { isObject, type Json, type JsonObject, withField, withoutField } from "../api/json.js";
import { StatusError } from "../api/status-error.js";
import type { RealAnswer } from "../real-server.testing.js";
import { validateCustomResource, validateStatus } from "../schema/custom-resource.js";
import { DecodingError } from "../schema/go-decoding.js";
import type { ManagedFieldsEntry } from "./managed-fields.js";
import type { Prediction, Subject } from "./random-run.testing.js";
import type { RandomWrite } from "./random-writes.testing.js";

/** Both refused a write: with the same status, or, for checks that are not computed here, each for its own reason. */
export function expectSameError(
  subject: Subject,
  live: JsonObject | undefined,
  write: RandomWrite,
  answer: RealAnswer,
  predicted: Prediction,
  where: string,
): void {
  const real = answer.body;
  const shown = `${where}real ${JSON.stringify(real)}, computed ${predicted.error?.message}`;
  if (predicted.error instanceof StatusError) {
    const { status } = predicted.error;
    expect(status.code, shown).toBe(real.code);
    expect(String(status.message).split("\n").sort(), shown).toEqual(String(real.message).split("\n").sort());
    expect(causesOf(status.details as unknown as Json), shown).toEqual(causesOf(real.details));
  } else if (predicted.error instanceof DecodingError) {
    // Go reports the first of several mismatching fields in its own order, which is not reproduced here.
    if (Array.isArray(write.body) && write.body.length > 1) return;
    // The facts know that a field is a string, not Go's name for its type: `v1.DNSPolicy`.
    const [sentence = "", type = ""] = predicted.error.message.split(" of type ");
    const realType = String(real.message).split(" of type ").at(-1)!;
    expect(String(real.message), shown).toContain(sentence);
    if (type !== "string" || !/^\w+\.\w+$/.test(realType)) expect(type || realType, shown).toBe(realType);
  } else {
    expect(predicted.error, shown).toBeUndefined();
    expect(real.reason, shown).toBe("Invalid");
    // The real server's JSON patch test compares raw text: an unescaped `<` differs from its own escaped one.
    if (write.type === "json" && JSON.stringify(write.body).includes("<")) return;
    if (subject.allocated !== undefined || subject.context.message !== undefined) return;
    const errors =
      write.subresource === "status"
        ? validateStatus(subject.schema, predicted.object!, live!)
        : validateCustomResource(subject.schema, predicted.object!, live);
    const causes = errors.map(({ type, field, detail }) => ({ reason: type, message: detail, field }));
    expect(causesOf({ causes }), shown).toEqual(causesOf(real.details));
  }
}

function causesOf(details: Json | undefined): string[] {
  const causes = isObject(details) ? ((details.causes ?? []) as readonly Json[]) : [];
  return causes.map((cause) => JSON.stringify(sorted(cause))).sort();
}

const SERVER_FIELDS = [
  "resourceVersion",
  "uid",
  "creationTimestamp",
  "generation",
  "managedFields",
  "deletionTimestamp",
];

/** Both accepted a write: the results must be the same object, with the same field owners. */
export function expectSameObject(subject: Subject, real: JsonObject, computed: JsonObject, where: string): void {
  const bare = (object: JsonObject): JsonObject => {
    let metadata = object.metadata as JsonObject;
    for (const name of [...SERVER_FIELDS, "deletionGracePeriodSeconds"]) metadata = withoutField(metadata, name);
    return withField(object, "metadata", metadata);
  };
  if (subject.allocated === undefined) {
    expect(sorted(bare(computed)), `${where}real ${JSON.stringify(real)}`).toEqual(sorted(bare(real)));
  } else {
    expect(missing(bare(computed), bare(real)), `${where}real ${JSON.stringify(real)}`).toEqual([]);
  }
  expect(entries(computed), `${where}real ${JSON.stringify(real)}\n`).toEqual(entries(real));
}

/** Paths at which the first value is not part of the second, which may have additional defaults. */
function missing(part: Json, whole: Json | undefined, path = ""): string[] {
  if (isObject(part) && isObject(whole)) {
    return Object.keys(part).flatMap((key) => missing(part[key]!, whole[key], `${path}.${key}`));
  }
  if (Array.isArray(part) && Array.isArray(whole) && part.length === whole.length) {
    return part.flatMap((item, index) => missing(item as Json, whole[index] as Json, `${path}[${index}]`));
  }
  if (part === null && whole === undefined) return [];
  if (part === 0 && path.endsWith(".targetPort")) return [];
  if (isObject(part) && Object.keys(part).length === 0 && whole === undefined) return [];
  return JSON.stringify(part) === JSON.stringify(whole) ? [] : [`${path}: ${JSON.stringify(part)}`];
}

function entries(object: JsonObject): unknown[] {
  const fields = ((object.metadata as JsonObject).managedFields ?? []) as unknown as ManagedFieldsEntry[];
  return fields
    .map(({ time: _time, ...entry }) => sorted(entry as unknown as Json))
    .sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
}

function sorted(value: Json): Json {
  if (Array.isArray(value)) return value.map((item) => sorted(item as Json));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((key) => [key, sorted(value[key]!)]),
  );
}
