import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Json, JsonObject } from "../api/json.js";
import { Dice } from "../apply/random-writes.testing.js";
import { loadFacts } from "../facts/facts.js";
import type { FieldType, Message } from "../facts/message.js";
import { RealServer, SEED } from "../real-server.testing.js";
import { DecodingError, decodeStruct } from "./go-decoding.js";

/**
 * Random bodies for every built-in kind, with mismatching values and unknown fields, sent to a real server and decoded
 * here: both must refuse the same ones with the same messages. `SETPOINT_SEED` repeats a run, `STEPS` sets the bodies
 * of each kind, `KUBECONFIG_REAL` names a running server.
 */
const STEPS = Number(process.env.STEPS ?? 15);

let real: RealServer;

beforeAll(async () => {
  real = await RealServer.start();
}, 600_000);

afterAll(() => real[Symbol.asyncDispose]());

describe(`decoding agrees with a real server (SETPOINT_SEED=${SEED})`, () => {
  it("random bodies of built-in kinds", { timeout: 3_600_000 }, async () => {
    const facts = await loadFacts();
    const dice = new Dice(SEED);
    let refused = 0;
    let sent = 0;
    for (const { group, versions } of facts.groups) {
      for (const { version, resources } of versions) {
        for (const { plural, kind, namespaced, verbs } of resources) {
          const apiVersion = group === "" ? version : `${group}/${version}`;
          const message = facts.messageOf(apiVersion, kind);
          if (!verbs.includes("create") || message === undefined) continue;
          const base = `${group === "" ? "/api" : `/apis/${group}`}/${version}`;
          const path = `${base}${namespaced ? "/namespaces/default" : ""}/${plural}?dryRun=All&fieldValidation=Strict`;
          for (let step = 0; step < STEPS; step++) {
            const body = { apiVersion, kind, ...randomStruct(dice, message, 0, { spoilt: dice.oneIn(3) ? 0 : 1 }) };
            const answer = await real.call("POST", path, body);
            const computed = verdict(message, body);
            const where = `SETPOINT_SEED=${SEED} ${apiVersion} ${kind} step ${step} ${JSON.stringify(body)}\nreal ${JSON.stringify(answer.body)}\ncomputed ${computed}`;
            sent++;
            const prefix = `${kind} in version "${version}" cannot be handled as a ${kind}: `;
            const said = String(answer.body.message);
            if (said.startsWith(prefix)) {
              refused++;
              expect(masked(computed ?? ""), where).toBe(masked(said.slice(prefix.length)));
            } else expect(computed, where).toBeUndefined();
          }
        }
      }
    }
    console.log(`${sent} bodies, ${refused} of them refused by both in the same words`);
    expect(refused).toBeGreaterThan(sent / 5);
  });
});

function verdict(message: Message, body: JsonObject): string | undefined {
  try {
    const { unknown } = decodeStruct(message, body);
    if (unknown.length === 0) return undefined;
    return `strict decoding error: ${unknown.map((field) => `unknown field "${field}"`).join(", ")}`;
  } catch (error) {
    if (error instanceof DecodingError) return error.message;
    throw error;
  }
}

/** The facts know that a field is a string, not Go's name for its type: `v1.DNSPolicy`. */
function masked(text: string): string {
  return text
    .replace(/map\[\w+\.\w+\]/, "map[string]")
    .replace(/ of type (string|\w+\.\w+)$/, " of type string")
    .replace(/(\[\]|map\[string\])(string|\w+\.\w+)$/, "$1string");
}

interface Budget {
  /** The number of values that are still to be wrong. */
  spoilt: number;
}

function randomStruct(dice: Dice, message: Message, depth: number, budget: Budget): JsonObject {
  const result: Record<string, Json> = {};
  for (const field of message.fields) {
    if (field.json === "") {
      if (field.type.kind === "message") Object.assign(result, randomStruct(dice, field.type.message, depth, budget));
    } else if (field.json !== "managedFields" && dice.oneIn(depth < 2 ? 2 : 5)) {
      result[field.json] = randomField(dice, field.type, depth + 1, budget);
    }
  }
  if (budget.spoilt > 0 && dice.oneIn(12)) {
    budget.spoilt--;
    result.zzz = 1;
  }
  return result;
}

function randomField(dice: Dice, type: FieldType, depth: number, budget: Budget): Json {
  if (budget.spoilt > 0 && depth > 1 && dice.oneIn(8)) {
    budget.spoilt--;
    return dice.pick<Json>([true, 12, 1.5, "12", ["a"], { a: "b" }, null, 5e9]);
  }
  switch (type.kind) {
    case "scalar":
      if (type.scalar === "string") return dice.pick(["a", "b"]);
      if (type.scalar === "bool") return dice.oneIn(2);
      if (type.scalar === "bytes") return dice.pick(["YWJj", "YQ=="]);
      return dice.roll(3);
    case "special":
      return randomSpecial(dice, type.special);
    case "message":
      return depth > 5 ? {} : randomStruct(dice, type.message, depth, budget);
    case "pointer":
      return randomField(dice, type.to, depth, budget);
    case "map":
      return { k: randomField(dice, type.of, depth + 1, budget) };
    default:
      return [randomField(dice, type.of, depth + 1, budget)];
  }
}

function randomSpecial(dice: Dice, special: string): Json {
  switch (special) {
    case "Time":
      return dice.pick<Json>(["2024-01-01T00:00:00Z", "2024-01-01T00:00:00+02:00", "x", "2024-13-01T00:00:00Z"]);
    case "MicroTime":
      return dice.pick<Json>(["2024-01-01T00:00:00.000000Z", "2024-01-01T00:00:00.123456Z", "2024-01-01T00:00:00.1Z"]);
    case "Duration":
      return dice.pick<Json>(["1s", "90s", "1x", "12"]);
    case "Quantity":
      return dice.pick<Json>(["1", "100m", 5, "1Gi", "x", "1.5.5", "1Zi"]);
    case "IntOrString":
      return dice.pick<Json>([1, "http", 1.5, true]);
    case "RawExtension":
    case "FieldsV1":
      return { a: 1 };
    case "SchemaOrBool":
      return true;
    case "SchemaOrArray":
      return {};
    case "SchemaOrStrings":
      return ["a"];
    default:
      return 1;
  }
}
