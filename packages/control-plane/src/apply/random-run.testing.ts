import { expect } from "vitest";
import { isObject, type Json, type JsonObject, withField, withoutField } from "../api/json.js";
import type { StatusError } from "../api/status-error.js";
import type { Schema } from "../facts/schema.js";
import { type RealAnswer, type RealServer, SEED } from "../real-server.testing.js";
import { applyServerSide, trackUpdate, type WriteContext } from "./field-manager.js";
import type { setOf } from "./field-set.js";
import { jsonPatch } from "./json-patch.js";
import { mergePatch } from "./merge-patch.js";
import { Dice, type RandomWrite, randomJsonPatch, randomValue, withNulls } from "./random-writes.testing.js";
import { expectSameError, expectSameObject } from "./same-outcome.testing.js";
import { strategicPatch } from "./strategic-patch.js";

const STEPS = Number(process.env.STEPS ?? 400);

/** One kind under test: how to generate its writes, and how to compute their result. */
export interface Subject {
  readonly namespace: string;
  readonly path: string;
  /** The content of its first write; by default any value that matches the schema. */
  readonly base?: JsonObject;
  readonly identity: JsonObject;
  readonly roots: readonly string[];
  readonly schema: Schema;
  readonly context: Omit<WriteContext, "manager" | "subresource" | "nowMs">;
  /** The server's changes before ownership is determined: decoding and, for custom resources, defaulting. */
  read(object: JsonObject): JsonObject;
  /** The server's changes to the result of an apply. */
  settle(object: JsonObject): JsonObject;
  /** The server's changes to a stored object when it is read. */
  readBack?(object: JsonObject): JsonObject;
  readonly hasStatus: boolean;
  /** Fields that are set after ownership is determined. All other new fields of a built-in kind are defaults. */
  readonly allocated: readonly string[] | undefined;
  readonly patches: readonly RandomWrite["type"][];
  readonly resets: (subresource: string) => ReturnType<typeof setOf> | undefined;
}

/**
 * A random sequence of writes by three managers, sent to a real server and computed here from the same live object; the
 * object, its managed fields and the errors must agree after every step. `STEPS` and `SETPOINT_SEED` make longer or repeated
 * runs.
 */
export async function expectAgreement(real: RealServer, subject: Subject): Promise<void> {
  const dice = new Dice(SEED);
  let name = "";
  let live: JsonObject | undefined;
  let errors = 0;
  for (let step = 0; step < STEPS; step++) {
    if (step % 25 === 0) {
      if (live !== undefined) await real.call("DELETE", `${subject.path}/${name}`);
      name = `o${step}`;
      live = undefined;
    }
    const write = randomWrite(dice, subject, live);
    const answer = await send(real, subject, live, write, name);
    const predicted = predict(subject, live, write, name, answer);
    const where = `SETPOINT_SEED=${SEED} step ${step} ${subject.identity.kind} ${JSON.stringify(write)}\nlive ${JSON.stringify(live)}\n`;
    if (answer.status >= 400) {
      errors++;
      expectSameError(subject, live, write, answer, predicted, where);
    } else {
      expect(predicted.error, `${where}computed ${predicted.error?.message}, real ${answer.status}`).toBeUndefined();
      const object = subject.readBack?.(predicted.object!) ?? predicted.object!;
      expectSameObject(subject, answer.body, object, where);
      live = answer.body;
      if (isObject(live.metadata) && live.metadata.deletionTimestamp !== undefined) live = undefined;
    }
  }
  console.log(`${subject.identity.kind}: ${STEPS} steps, ${errors} of them refused by both`);
  expect(errors).toBeLessThan(STEPS * 0.7);
}

function randomWrite(dice: Dice, subject: Subject, live: JsonObject | undefined): RandomWrite {
  const manager = dice.pick(["alice", "bob", "carol"]);
  const { base } = subject;
  if (live === undefined) {
    const body = base ?? randomBody(dice, subject, "spec");
    const type = dice.oneIn(2) ? "apply" : "update";
    return { type, manager, subresource: "", force: false, body };
  }
  const subresource = subject.hasStatus && dice.oneIn(5) ? "status" : "";
  const type = dice.pick(subject.patches);
  const root = subresource === "status" ? "status" : dice.pick(subject.roots.filter((part) => part !== "status"));
  const force = dice.oneIn(2);
  const partial = randomBody(dice, subject, root);
  let body: Json = partial;
  if (type === "merge") body = withNulls(dice, partial);
  else if (type === "strategic") body = withDirectives(dice, withNulls(dice, partial) as JsonObject);
  else if (type === "json") {
    body = randomJsonPatch(dice, live, subject.schema.properties![root]!, root);
  } else if (type === "apply" && base !== undefined && dice.oneIn(2)) body = mergePatch(base, partial);
  return { type, manager, subresource, force, body };
}

function randomBody(dice: Dice, subject: Subject, root: string): JsonObject {
  const schema = subject.schema.properties![root] ?? subject.schema.properties![subject.roots[0]!]!;
  const key = subject.schema.properties![root] === undefined ? subject.roots[0]! : root;
  return { [key]: randomValue(dice, schema) };
}

/** Adds directives of strategic patches at random. */
function withDirectives(dice: Dice, patch: JsonObject): JsonObject {
  const result: Record<string, Json> = {};
  for (const [key, value] of Object.entries(patch)) {
    if (Array.isArray(value) && value.every(isObject) && value.length > 0) {
      const items: Json[] = value.map((item) => {
        const id = ["name", "port", "containerPort", "key"].find((candidate) => Object.hasOwn(item, candidate));
        return dice.oneIn(6) && id !== undefined && key !== "tolerations"
          ? { $patch: "delete", [id]: item[id]! }
          : withDirectives(dice, item);
      });
      if (dice.oneIn(8) && key !== "tolerations") items.push({ $patch: "replace" });
      result[key] = items;
    } else if (isObject(value)) {
      result[key] = withDirectives(dice, value);
      if (dice.oneIn(12) && key !== "metadata")
        (result[key] as Record<string, Json>).$patch = dice.pick(["replace", "delete"]);
    } else result[key] = value;
  }
  return result;
}

export interface Prediction {
  readonly object?: JsonObject;
  readonly error?: StatusError | Error;
}

function predict(
  subject: Subject,
  live: JsonObject | undefined,
  write: RandomWrite,
  name: string,
  answer: RealAnswer,
): Prediction {
  const context: WriteContext = {
    ...subject.context,
    manager: write.manager,
    subresource: write.subresource,
    nowMs: Date.now(),
    resetFields: () => subject.resets(write.subresource),
  };
  try {
    if (write.type === "apply") {
      const config = { ...subject.identity, ...withName(subject, write.body as JsonObject, name) };
      const applied = applyServerSide(context, live, config, { force: write.force });
      return { object: finished(subject, live, subject.settle(applied), write.subresource) };
    }
    const changed = live === undefined ? newObject(subject, write, name) : patched(subject, live, write);
    const decoded = subject.read(changed as JsonObject);
    const { allocated } = subject;
    const isFilled = allocated !== undefined && answer.status < 400;
    const read = isFilled ? (filled(decoded, answer.body, allocated) as JsonObject) : decoded;
    const tracked = trackUpdate(context, live, read);
    return { object: finished(subject, live, tracked, write.subresource) };
  } catch (error) {
    return { error: error as Error };
  }
}

/** The value with the defaults of the real server. */
function filled(value: Json, real: Json | undefined, allocated: readonly string[]): Json {
  if (Array.isArray(value) && Array.isArray(real) && value.length === real.length) {
    return value.map((item, index) => filled(item as Json, real[index] as Json, allocated));
  }
  if (!isObject(value) || !isObject(real)) return value === null && real !== undefined ? real : value;
  const result: Record<string, Json> = {};
  for (const key of Object.keys(real)) {
    if (key === "managedFields") continue;
    // To Go an absent targetPort is zero, and defaulted as such.
    if (key === "targetPort" && value[key] === 0) result[key] = real[key]!;
    else if (Object.hasOwn(value, key)) result[key] = filled(value[key]!, real[key], allocated);
    else if (!allocated.includes(key) && key !== "metadata") result[key] = real[key]!;
  }
  return { ...value, ...result };
}

function withName({ namespace }: Subject, body: JsonObject, name: string): JsonObject {
  const metadata = isObject(body.metadata) ? body.metadata : {};
  return { ...body, metadata: { ...metadata, name, namespace } };
}

function newObject(subject: Subject, write: RandomWrite, name: string): JsonObject {
  return { ...subject.identity, ...withName(subject, write.body as JsonObject, name) };
}

function patched(subject: Subject, live: JsonObject, write: RandomWrite): Json {
  switch (write.type) {
    case "json":
      return jsonPatch(live, write.body);
    case "strategic":
      return strategicPatch(subject.context.schemaOf(subject.context.apiVersion)!, live, write.body);
    default:
      return mergePatch(live, write.body);
  }
}

/** The changes after ownership is determined: the main endpoint keeps the status, `/status` everything else. */
function finished(subject: Subject, live: JsonObject | undefined, object: JsonObject, subresource: string): JsonObject {
  if (!subject.hasStatus) return object;
  if (live === undefined) return withoutField(object, "status");
  const [from, rest] = subresource === "status" ? [object, live] : [live, object];
  const merged = from.status === undefined ? withoutField(rest, "status") : withField(rest, "status", from.status);
  const { managedFields } = object.metadata as JsonObject;
  const metadata = merged.metadata as JsonObject;
  return withField(
    merged,
    "metadata",
    managedFields === undefined
      ? withoutField(metadata, "managedFields")
      : withField(metadata, "managedFields", managedFields),
  );
}

async function send(
  real: RealServer,
  subject: Subject,
  live: JsonObject | undefined,
  write: RandomWrite,
  name: string,
): Promise<RealAnswer> {
  const query = `fieldManager=${write.manager}&fieldValidation=Ignore`;
  const path = `${subject.path}/${name}${write.subresource === "" ? "" : `/${write.subresource}`}`;
  if (write.type === "apply") {
    const config = { ...subject.identity, ...withName(subject, write.body as JsonObject, name) };
    return real.call("PATCH", `${path}?${query}&force=${write.force}`, config, "application/apply-patch+yaml");
  }
  if (live === undefined) return real.call("POST", `${subject.path}?${query}`, newObject(subject, write, name));
  if (write.type === "update") {
    return real.call("PUT", `${path}?${query}`, patched(subject, live, write));
  }
  const type = write.type === "strategic" ? "strategic-merge-patch" : `${write.type}-patch`;
  return real.call("PATCH", `${path}?${query}`, write.body, `application/${type}+json`);
}
