import { labelMatcher } from "setpoint/kinds";
import { describe, expect, it } from "vitest";
import type { Json, JsonObject } from "../api/json.js";
import { applyServerSide, trackUpdate, type WriteContext } from "../apply/field-manager.js";
import { strategicPatch } from "../apply/strategic-patch.js";
import { compile } from "../cel/compilation.js";
import { Budget } from "../cel/evaluation/budget.js";
import { Program } from "../cel/evaluation/program.js";
import { kubernetesLibrary } from "../cel/functions/library.js";
import { Failure } from "../cel/values/value.js";
import { loadFacts } from "../facts/facts.js";
import { decodeMessage } from "../protobuf/message-decoder.js";
import { slicedJson } from "../registry/body/sliced-json.js";
import { readYamlText } from "../registry/body/yaml-text.js";
import { validateCrdSchema } from "../registry/crd/crd-schema-validation.js";
import { requestedFields, requestedLabels } from "../registry/selectors/request-selectors.js";
import { duplicateKeys } from "./json-text.js";
import { operationsOf } from "./operations.testing.js";

const facts = await loadFacts();
const podMessage = facts.messageOf("v1", "Pod")!;
const podSchema = facts.schemaOf("", "v1", "Pod")!;
const mapSchema = facts.schemaOf("", "v1", "ConfigMap")!;

const times = <Item>(count: number, make: (index: number) => Item): Item[] =>
  Array.from({ length: count }, (_, index) => make(index));
const keyed = (count: number, value: Json): JsonObject =>
  Object.fromEntries(times(count, (index) => [`k${index}`, value]));

const context = (manager: string): WriteContext => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  subresource: "",
  manager,
  nowMs: 0,
  message: facts.messageOf("v1", "ConfigMap"),
  schemaOf: () => mapSchema,
});
const configMap = (data: JsonObject): JsonObject => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "x", uid: "u" },
  data,
});

const field = (number: number, content: Uint8Array): Buffer => {
  const length: number[] = [];
  for (let rest = content.length; ; rest >>= 7) {
    if (rest < 128) {
      length.push(rest);
      break;
    }
    length.push((rest & 127) | 128);
  }
  return Buffer.concat([Buffer.from([(number << 3) | 2, ...length]), content]);
};
const entry = (at: number): Buffer =>
  field(11, Buffer.concat([field(1, Buffer.from(`k${at}`)), field(2, Buffer.from("v"))]));

const evaluated = (expression: string): void => {
  const program = Program.of(compile(expression, kubernetesLibrary.environment(new Map())));
  if (program instanceof Failure) throw new Error(program.message);
  program.evaluate(() => undefined, new Budget(1e9));
};

/** A worst case of so many parts for each; setup that does not count runs before. */
const WORK: Readonly<Record<string, (size: number) => () => unknown>> = {
  "protobuf: containers without anything": (size) => {
    const bytes = field(2, Buffer.concat(times(size, () => field(2, Buffer.alloc(0)))));
    return () => decodeMessage(podMessage, bytes);
  },
  "protobuf: labels that come in parts": (size) => {
    const bytes = Buffer.concat(times(size, (at) => field(1, entry(at))));
    return () => decodeMessage(podMessage, bytes);
  },
  "protobuf: unknown fields": (size) => {
    const bytes = Buffer.concat(times(size, () => field(15, Buffer.from("x"))));
    return () => decodeMessage(podMessage, bytes);
  },
  "a label selector of many requirements, and of many values": (size) => {
    const text = [...times(size, (at) => `!k${at}`), `k in (${times(size, (at) => `v${at}`).join()})`].join();
    return () => requestedLabels(text);
  },
  "a label selector that is held against as many objects": (size) => {
    const text = [...times(size, (at) => `!k${at}`), ...times(size, (at) => `a!=v${at}`)].join();
    const isSelected = labelMatcher(requestedLabels(text));
    return () => times(size, () => isSelected({ a: "b", c: "d" }));
  },
  "a field selector": (size) => {
    const text = times(size, (at) => `metadata.name!=n${at}`).join();
    return () => requestedFields(text);
  },
  "managed fields of a new object": (size) => {
    const object = configMap(keyed(size, "1"));
    return () => trackUpdate(context("a"), undefined, object);
  },
  "managed fields of many managers that change": (size) => {
    let live = trackUpdate(context("a"), undefined, configMap(keyed(size, "1")));
    for (const manager of ["b", "c", "d"]) {
      const data = { ...(live.data as JsonObject), [manager]: manager };
      live = trackUpdate(context(manager), live, { ...live, data });
    }
    const object = { ...configMap(keyed(size, "2")), metadata: live.metadata! };
    return () => trackUpdate(context("e"), live, object);
  },
  "an apply that takes over some fields and drops others": (size) => {
    const live = applyServerSide(context("a"), undefined, configMap(keyed(size, "1")));
    const stored = { ...live, metadata: { ...(live.metadata as JsonObject), uid: "u" } };
    const config = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "x" }, data: keyed(size / 2, "2") };
    return () => applyServerSide(context("a"), stored, config, { force: true });
  },
  "a strategic patch that deletes from a keyed list": (size) => {
    const containers = times(size, (at) => ({ name: `a${at}` }));
    const patch = { spec: { containers: containers.map(({ name }) => ({ $patch: "delete", name })) } };
    return () => strategicPatch(podSchema, { spec: { containers } }, patch);
  },
  "an expression of CEL with many terms": (size) => {
    const text = times(size, (at) => `${at} < ${at + 1}`).join(" && ");
    return () => compile(text, kubernetesLibrary.environment(new Map()));
  },
  "CEL over a long list": (size) => {
    const text = `[${times(size, (at) => at).join()}].all(x, x >= 0)`;
    return () => evaluated(text);
  },
  "a large object that is cut into slices": (size) => {
    const value = { a: keyed(30 * size, "1"), b: [{ c: keyed(30 * size, "1") }] };
    return () => slicedJson(value);
  },
  "JSON with duplicates, deep down [7d]": (size) => {
    const fields = times(size, (at) => `"x${at}":1,"x${at}":1`).join();
    const text = `${'{"a":'.repeat(300)}{${fields}}${"}".repeat(300)}`;
    const value = JSON.parse(text) as Json;
    return () => duplicateKeys(text, value);
  },
  "YAML of empty maps": (size) => {
    const text = `x: [${"{},".repeat(size)}{}]`;
    return () => readYamlText(text);
  },
  "YAML with as many anchors as aliases [7c]": (size) => {
    const text = `${times(size, (at) => `a${at}: &a${at} 1\n`).join("")}${times(size, (at) => `b${at}: *a${at}\n`).join("")}`;
    return () => readYamlText(text);
  },
  "YAML with duplicates at each depth [7b]": (size) => {
    const text = times(50, (depth) => `${" ".repeat(depth)}a:\n`).join("");
    const lines = times(size, (at) => `${" ".repeat(50)}k${at % 7}: 1\n`).join("");
    return () => readYamlText(text + lines);
  },
  "the schema of a CRD with many properties": (size) => {
    const properties = Object.fromEntries(times(size, (at) => [`p${at}`, { type: "string", default: "x" }]));
    const spec = { type: "object", properties };
    return () => validateCrdSchema({ type: "object", properties: { spec } } as never, "schema", true);
  },
  "the schema of a CRD that nests deep": (size) => {
    const schema = times(size / 5, () => 0).reduce<object>(
      (inner) => ({ type: "object", properties: { a: inner, b: { type: "string" } } }),
      { type: "string" },
    );
    return () => validateCrdSchema(schema as never, "schema", true);
  },
};

it("distinguishes quadratic from linear work", () => {
  const quadratic = (size: number) => () => times(size, (at) => times(size, (other) => at + other));
  expect(operationsOf(quadratic(400)) / operationsOf(quadratic(100))).toBeGreaterThan(10);
});

describe("the work for a request, counted in blocks of code that it runs, is linear in its size", () => {
  it.each(Object.entries(WORK))("for %s", (_title, made) => {
    const warm = made(100);
    warm();
    // The engine loses some counts when it optimises a function: the maximum of several runs is the most accurate.
    const counted = (size: number) => Math.max(...times(5, () => operationsOf(made(size))));
    const [small, large] = [counted(250), counted(1_000)];
    expect(small).toBeGreaterThan(100);
    // Four times the size, four times the work, and a little more for sorting.
    expect(large / small).toBeLessThan(5.5);
  });
});
