import { systemClock } from "setpoint/clock";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isArray, isObject, type Json, type JsonObject } from "../api/json.js";
import { Dice, randomValue } from "../apply/random-writes.testing.js";
import { loadFacts } from "../facts/facts.js";
import type { Schema } from "../facts/schema.js";
import { type NamedObject, type RealAnswer, RealServer, SEED } from "../real-server.testing.js";
import { coerceCustomResource, validateCustomResource } from "./custom-resource.js";
import { applyDefaults } from "./defaulting.js";
import { validateStructural } from "./structural.js";

/**
 * Random custom resources, valid and invalid, created in a dry run on a real server and validated here: the findings
 * must be the same, word for word. `SETPOINT_SEED` repeats a run, `STEPS` lengthens it, `KUBECONFIG_REAL` names a
 * running server.
 */
const STEPS = Number(process.env.STEPS ?? 500);
const GROUP = `check${SEED}-${process.pid}.example.com`;

const SPEC: Schema = {
  type: "object",
  required: ["title"],
  properties: {
    title: { type: "string", minLength: 2, maxLength: 5 },
    code: { type: "string", pattern: "^[a-z]+$" },
    count: { type: "integer", minimum: 1, maximum: 3 },
    small: { type: "integer", format: "int32" },
    share: { type: "number", minimum: 0, exclusiveMinimum: true, maximum: 1 },
    even: { type: "integer", multipleOf: 2 },
    color: { type: "string", enum: ["red", "blue"] },
    level: { type: "integer", enum: [1, 2] },
    when: { type: "string", format: "date-time" },
    day: { type: "string", format: "date" },
    address: { type: "string", format: "ipv4" },
    id: { type: "string", format: "uuid" },
    data: { type: "string", format: "byte" },
    span: { type: "string", format: "duration" },
    host: { type: "string", format: "hostname" },
    net: { type: "string", format: "cidr" },
    mail: { type: "string", format: "email" },
    odd: { type: "string", format: "no-such-format" },
    maybe: { type: "string", nullable: true },
    port: { "x-kubernetes-int-or-string": true },
    flags: { type: "array", "x-kubernetes-list-type": "set", items: { type: "string" }, maxItems: 2 },
    parts: {
      type: "array",
      minItems: 1,
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["name", "zone"],
      items: {
        type: "object",
        required: ["name"],
        properties: {
          name: { type: "string" },
          zone: { type: "string", default: "here" },
          size: { type: "integer", minimum: 0 },
        },
      },
    },
    labels: {
      type: "object",
      maxProperties: 2,
      minProperties: 1,
      additionalProperties: { type: "string", maxLength: 2 },
    },
    choice: {
      type: "object",
      properties: { a: { type: "string" }, b: { type: "string" }, c: { type: "integer" } },
      oneOf: [{ required: ["a"] }, { required: ["b"] }],
    },
    some: {
      type: "object",
      properties: { a: { type: "integer" }, b: { type: "integer" } },
      anyOf: [{ required: ["a"], properties: { a: { minimum: 2 } } }, { required: ["b"] }],
    },
    all: { type: "integer", allOf: [{ minimum: 1 }, { maximum: 2 }] },
    never: { type: "string", not: { enum: ["a"] } },
    amount: {
      "x-kubernetes-int-or-string": true,
      anyOf: [{ type: "integer" }, { type: "string" }],
      pattern: "^[0-9]+%$",
    },
    embedded: { type: "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true },
    free: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
    deep: {
      type: "object",
      properties: { er: { type: "object", required: ["x"], properties: { x: { type: "boolean" } } } },
    },
  },
};

const SCHEMA: Schema = { type: "object", required: ["spec"], properties: { spec: SPEC } };

let real: RealServer;

beforeAll(async () => {
  real = await RealServer.start();
}, 600_000);

afterAll(() => real[Symbol.asyncDispose]());

describe(`validation agrees with a real server (SETPOINT_SEED=${SEED})`, () => {
  it("random custom resources", { timeout: 3_600_000 }, async () => {
    const facts = await loadFacts();
    const objectMeta = facts.messageNamed("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta")!;
    await real.make("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", crd(SCHEMA));
    const things = `/apis/${GROUP}/v1/namespaces/default/things`;
    while ((await real.call("GET", things)).status !== 200) await systemClock.sleep(100);
    const dice = new Dice(SEED);
    let refused = 0;
    let findings = 0;
    for (let step = 0; step < STEPS; step++) {
      const spec = randomSpec(dice);
      const object: JsonObject = { apiVersion: `${GROUP}/v1`, kind: "Thing", metadata: { name: "x" }, spec };
      const answer = await real.call("POST", `${things}?dryRun=All&fieldValidation=Ignore`, object);
      const where = `SETPOINT_SEED=${SEED} step ${step} ${JSON.stringify(spec)}\nreal ${JSON.stringify(answer.body)}`;
      const read = applyDefaults(SCHEMA, coerceCustomResource(SCHEMA, object, objectMeta).object);
      const errors = validateCustomResource(SCHEMA, read);
      const causes = errors.map(({ type, field, detail }) => JSON.stringify([type, detail, field])).sort();
      const realCauses = causesOf(answer)
        .map(({ reason, message, field }) => JSON.stringify([reason, message, field ?? ""]))
        .sort();
      expect(causes, where).toEqual(realCauses);
      findings += causes.length;
      if (answer.status >= 400) {
        expect(answer.status, where).toBe(422);
        refused++;
      } else expect(read.spec, where).toEqual(answer.body.spec);
    }
    console.log(`${STEPS} custom resources, ${refused} of them refused by both with the same ${findings} findings`);
    expect(refused).toBeGreaterThan(STEPS / 10);
  });

  it("schemas that are not structural", { timeout: 600_000 }, async () => {
    const dice = new Dice(SEED);
    let refused = 0;
    for (let step = 0; step < 60; step++) {
      const schema = crooked(dice, SCHEMA) as unknown as Schema;
      const answer = await real.call(
        "POST",
        "/apis/apiextensions.k8s.io/v1/customresourcedefinitions?dryRun=All",
        crd(schema, `other${step}`),
      );
      const path = "spec.validation.openAPIV3Schema";
      const realCauses = causesOf(answer)
        .map(
          ({ message, field }) =>
            `${String(field).replace("spec.versions[0].schema.openAPIV3Schema", path)}: ${message}`,
        )
        .filter((text) => text.includes(path))
        .sort();
      const causes = validateStructural(schema, path).map(({ field, detail }) => `${field}: ${detail}`);
      const where = `SETPOINT_SEED=${SEED} step ${step} ${JSON.stringify(schema)}\nreal ${JSON.stringify(answer.body)}`;
      for (const cause of causes) expect(realCauses, where).toContain(cause);
      if (causes.length > 0) refused++;
    }
    expect(refused).toBeGreaterThan(5);
  });
});

const SAMPLES: Readonly<Record<string, readonly Json[]>> = {
  title: ["ab", "abc", "a", "abcdef", "äöü"],
  code: ["abc", "ABC", ""],
  when: ["2024-01-01T00:00:00Z", "2024-01-01T00:00:00.5+02:00", "2024-01-01", "2024-01-01t00:00:00z", "x"],
  day: ["2024-02-29", "2023-02-29", "2024-1-1"],
  address: ["10.0.0.1", "010.0.0.1", "10.0.0", "::1", "::ffff:1.2.3.4"],
  id: ["123e4567-e89b-12d3-a456-426614174000", "123E4567E89B12D3A456426614174000", "123"],
  data: ["YWJj", "YQ==", "YQ=", "", "not base64"],
  span: ["1h30m", "5 days", "22 ns", "abc", "-1s", "1.5h", "3 fortnights"],
  host: ["example.com", "a", "-a", "ex ample", "a.b.c-", "1.2.3.4", "x_y"],
  net: ["10.0.0.0/8", "10.0.0.0", "::/0", "10.0.0.0/33", "fe80::1/64"],
  mail: ["a@b.c", "A <a@b.c>", "a@", "@b", "a b@c.d", "a..b@c.d"],
  port: [80, "http", 1.5, true],
  amount: [5, "5%", "x", 1.5],
  small: [1, 2147483647, 2147483648, -2147483649],
  share: [0, 0.5, 1, 1.5],
};

/** A few fields, each valid or invalid. */
function randomSpec(dice: Dice): Json {
  const names = Object.keys(SPEC.properties!);
  const spec: Record<string, Json> = dice.oneIn(20) ? {} : { title: "abc" };
  for (let count = dice.roll(5); count > 0; count--) {
    const name = dice.pick(names);
    const samples = SAMPLES[name];
    const value =
      samples !== undefined && !dice.oneIn(4) ? dice.pick(samples) : randomValue(dice, SPEC.properties![name]!, 2);
    spec[name] = spoilt(dice, value, 4);
  }
  return spec;
}

/** Breaks a value in a few places: wrong types, bad members, missing and unknown fields. */
function spoilt(dice: Dice, value: Json, sides: number): Json {
  if (dice.oneIn(sides * 3))
    return dice.pick<Json>([
      null,
      7,
      -3,
      1.5,
      3e9,
      "zz",
      "toolongtext",
      "",
      true,
      [],
      ["a", "a", "b"],
      {},
      { a: "q" },
      { b: 1, a: "x" },
      "2024-02-30T00:00:00Z",
      "300.1.1.1",
      "12%",
      "a%",
    ]);
  if (isArray(value)) {
    const items = value.map((item) => spoilt(dice, item, sides));
    return dice.oneIn(sides) && items.length > 0 ? [...items, items[0]!] : items;
  }
  if (!isObject(value)) return value;
  const result: Record<string, Json> = {};
  for (const [key, item] of Object.entries(value)) if (!dice.oneIn(sides * 2)) result[key] = spoilt(dice, item, sides);
  if (dice.oneIn(sides)) result.unknown = { some: "thing" };
  return result;
}

/** A schema with something that a structural one must not have. */
function crooked(dice: Dice, schema: Schema): Json {
  const copy = JSON.parse(JSON.stringify(schema)) as {
    properties: { spec: { properties: Record<string, JsonObject> } };
  };
  const { properties } = copy.properties.spec;
  const names = Object.keys(properties);
  for (let count = 1 + dice.roll(2); count > 0; count--) {
    const name = dice.pick(names);
    properties[name] = dice.pick<JsonObject>([
      {},
      { type: "array" },
      { type: "string", anyOf: [{ type: "string" }] },
      { type: "object", allOf: [{ properties: { q: { minimum: 1 } } }] },
      { type: "string", pattern: "(" },
      { type: "object", not: { description: "x", nullable: true } },
      { type: "string", "x-kubernetes-embedded-resource": true },
      { type: "object", "x-kubernetes-embedded-resource": true },
      { type: "object", oneOf: [{ default: 1 }, { "x-kubernetes-list-type": "set" }] },
      { "x-kubernetes-int-or-string": true, "x-kubernetes-preserve-unknown-fields": true },
    ]);
  }
  return copy as unknown as Json;
}

function crd(schema: Schema, plural = "things"): NamedObject {
  const kind = `${plural[0]!.toUpperCase()}${plural.slice(1, -1)}`;
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${GROUP}` },
    spec: {
      group: GROUP,
      scope: "Namespaced",
      names: { plural, singular: plural.slice(0, -1), kind, listKind: `${kind}List` },
      versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: schema as unknown as Json } }],
    },
  };
}

function causesOf({ body }: RealAnswer): readonly JsonObject[] {
  return isObject(body.details) ? ((body.details.causes ?? []) as readonly JsonObject[]) : [];
}
