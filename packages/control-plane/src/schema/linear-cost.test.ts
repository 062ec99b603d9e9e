import { subdomainName } from "setpoint/kinds";
import { describe, expect, it } from "vitest";
import type { Json, JsonObject } from "../api/json.js";
import { validateObjectMeta } from "../api/metadata/object-meta-validation.js";
import { jsonPatch } from "../apply/json-patch.js";
import { mergePatch } from "../apply/merge-patch.js";
import { strategicPatch } from "../apply/strategic-patch.js";
import { podUpdate } from "../builtin/validation/pod/pod-rules.js";
import { loadFacts } from "../facts/facts.js";
import type { Schema } from "../facts/schema.js";
import { inDocumentOrder, unknownField } from "../registry/body/field-findings.js";
import { countedValue } from "./counted-value.testing.js";
import { decodeStruct } from "./go-decoding.js";
import { prune } from "./pruning.js";
import { validate } from "./validation.js";

const facts = await loadFacts();
const pods = facts.messageOf("v1", "Pod")!;
const podSchema = facts.schemaOf("", "v1", "Pod")!;

const times = <Item>(count: number, make: (index: number) => Item): Item[] =>
  Array.from({ length: count }, (_, index) => make(index));
const keyed = (count: number, value: Json, prefix = "k"): JsonObject =>
  Object.fromEntries(times(count, (index) => [`${prefix}${index}`, value]));
const nested = (depth: number, inner: Json): Json =>
  times(depth, () => 0).reduce<Json>((value) => ({ a: value }), inner);

const conditions: Schema = {
  type: "object",
  properties: {
    conditions: {
      type: "array",
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["type"],
      items: { type: "object", properties: { type: { type: "string" }, message: { type: "string", maxLength: 3 } } },
    },
  },
};
const listed = (count: number, message: string): JsonObject => ({
  conditions: times(count, (index) => ({ type: `t${index}`, message })),
});

/** Schemas as deep as the value, with an error at the bottom. */
const deepSchema = (depth: number): Schema =>
  times(depth, () => 0).reduce<Schema>((inner) => ({ type: "object", properties: { a: inner } }), {
    type: "object",
    additionalProperties: { type: "integer" },
  });

/** The work of each on a body of `size` parts, measured by a counting value. */
const decoders: readonly [string, (size: number) => number][] = [
  [
    "list maps that are compared with their old items [7e]",
    (size) => {
      const { value, reads } = countedValue(listed(size, "long"));
      const old = countedValue(listed(size, "longer"));
      validate(conditions, value, { old: old.value });
      return reads() + old.reads();
    },
  ],
  [
    "deep values that differ at their end",
    (size) => {
      const { value, reads } = countedValue(nested(200, { ...keyed(size, "x"), z: 1 }));
      const old = countedValue(nested(200, { ...keyed(size, "x"), z: 2 }));
      validate(deepSchema(200), value, { old: old.value });
      return reads() + old.reads();
    },
  ],
  [
    "lists of unique items",
    (size) => {
      const { value, reads } = countedValue(times(size, (index) => ({ index })));
      validate({ type: "array", uniqueItems: true }, value);
      return reads();
    },
  ],
  [
    "unknown fields of a custom resource",
    (size) => {
      const { value, reads } = countedValue(keyed(size, 1));
      prune({ type: "object", properties: {} }, value);
      return reads();
    },
  ],
  [
    "unknown fields of a Pod",
    (size) => {
      const { value, reads } = countedValue({ spec: { containers: times(size, () => ({ name: "a", zzz: 1 })) } });
      decodeStruct(pods, value);
      return reads();
    },
  ],
  [
    "the order of field validation findings [7a]",
    (size) => {
      const { value, reads } = countedValue(nested(500, keyed(size, 1)));
      const path = `${times(500, () => "a").join(".")}.k`;
      const findings = times(100, (index) => unknownField(`${path}${index}`));
      inDocumentOrder(value, findings.slice(50), findings.slice(0, 50), true);
      return reads();
    },
  ],
  [
    "owner references that all control [6]",
    (size) => {
      const owner = { apiVersion: "v1", kind: "A", name: "n", uid: "u", controller: true };
      const { value, reads } = countedValue({ metadata: { name: "x", ownerReferences: times(size, () => owner) } });
      validateObjectMeta(value as never, false, subdomainName);
      return reads();
    },
  ],
  [
    "tolerations and gates that a Pod keeps",
    (size) => {
      const spec = {
        containers: [{ name: "a", image: "x" }],
        tolerations: times(size, (index) => ({ key: `k${index}`, operator: "Exists" })),
        schedulingGates: times(size, (index) => ({ name: `g${index}` })),
      };
      const { value, reads } = countedValue({ spec: { ...spec, tolerations: [...spec.tolerations].reverse() } });
      const old = countedValue({ spec });
      podUpdate(value, old.value);
      return reads() + old.reads();
    },
  ],
  [
    "a merge patch",
    (size) => {
      const { value, reads } = countedValue(keyed(size, { a: { b: null } }));
      mergePatch({}, value);
      return reads();
    },
  ],
  [
    "a strategic patch of keyed lists",
    (size) => {
      const env = times(size, (index) => ({ name: `A${index}`, value: "1" }));
      const { value, reads } = countedValue({ spec: { containers: [{ name: "a", env: [...env].reverse() }] } });
      const object = countedValue({ spec: { containers: [{ name: "a", image: "x", env }] } });
      strategicPatch(podSchema, object.value, value);
      return reads() + object.reads();
    },
  ],
  [
    "a strategic patch that orders a list",
    (size) => {
      const containers = times(size, (index) => ({ name: `a${index}` }));
      const order = { "$setElementOrder/containers": [...containers].reverse(), containers: [...containers].reverse() };
      const { value, reads } = countedValue({ spec: order });
      const object = countedValue({ spec: { containers } });
      strategicPatch(podSchema, object.value, value);
      return reads() + object.reads();
    },
  ],
  [
    "a JSON patch",
    (size) => {
      const { value, reads } = countedValue(times(size, (index) => ({ op: "add", path: `/k${index}`, value: 1 })));
      jsonPatch({}, value);
      return reads();
    },
  ],
];

describe("the cost of a request is linear in its size", () => {
  it.each(decoders)("for %s", (_title, cost) => {
    const [small, large] = [cost(500), cost(2_000)];
    // Four times the size, four times the work, and a little more for sorting.
    expect(large / small).toBeLessThan(5.5);
  });
});
