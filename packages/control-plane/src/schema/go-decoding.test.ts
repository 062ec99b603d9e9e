import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../api/json.js";
import { mergePatch } from "../apply/merge-patch.js";
import { loadFacts } from "../facts/facts.js";
import { decodeStruct } from "./go-decoding.js";
import { canonicalDuration, canonicalTime } from "./go-time.js";
import { duplicateKeys } from "./json-text.js";
import { canonicalQuantity } from "./quantity.js";

const facts = await loadFacts();
const deployment = facts.messageOf("apps/v1", "Deployment")!;

describe("decoding a built-in kind", () => {
  it("drops and reports unknown fields, and writes what Go always writes", () => {
    const { object, unknown } = decodeStruct(deployment, {
      apiVersion: "apps/v1",
      kind: "Deployment",
      spec: { zzz: 1, minReadySeconds: 0, template: { spec: { containers: [{ name: "a", odd: 1 }] } } },
    });
    expect(unknown).toEqual(["spec.zzz", "spec.template.spec.containers[0].odd"]);
    expect(object).toEqual({
      kind: "Deployment",
      apiVersion: "apps/v1",
      metadata: {},
      spec: {
        selector: null,
        template: { metadata: {}, spec: { containers: [{ name: "a", resources: {} }] } },
        strategy: {},
      },
      status: {},
    });
  });

  it("keeps a zero behind a pointer", () => {
    expect(decodeStruct(deployment, { spec: { replicas: 0 } }).object.spec).toMatchObject({ replicas: 0 });
  });

  it.each([
    [
      { spec: { replicas: "3" } },
      "json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32",
    ],
    [
      { spec: { replicas: 1.5 } },
      "json: cannot unmarshal number 1.5 into Go struct field DeploymentSpec.spec.replicas of type int32",
    ],
    [
      { spec: { replicas: 3e9 } },
      "json: cannot unmarshal number 3000000000 into Go struct field DeploymentSpec.spec.replicas of type int32",
    ],
    [{ spec: [] }, "json: cannot unmarshal array into Go struct field Deployment.spec of type v1.DeploymentSpec"],
    [
      { metadata: { labels: { a: 1 } } },
      "json: cannot unmarshal number into Go struct field ObjectMeta.metadata.labels of type string",
    ],
    [
      { metadata: { creationTimestamp: "x" } },
      'parsing time "x" as "2006-01-02T15:04:05Z07:00": cannot parse "x" as "2006"',
    ],
    [
      { spec: { template: { spec: { containers: [{ resources: { limits: { cpu: "x" } } }] } } } },
      "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
    ],
  ])("refuses %j as Go does", (body, message) => {
    expect(() => decodeStruct(deployment, body)).toThrow(message);
  });
});

describe("canonical forms", () => {
  it.each([
    ["1000m", "1"],
    ["0.5", "500m"],
    ["1.5Gi", "1536Mi"],
    ["1024Ki", "1Mi"],
    ["1000", "1k"],
    ["1024", "1024"],
    ["1e3", "1e3"],
    ["0", "0"],
    ["-0.1", "-100m"],
    ["100Ki", "100Ki"],
    ["0.1Ki", "102400m"],
    ["1Mi", "1Mi"],
    ["0.0000000001", "1n"],
    ["12E", "12E"],
    ["00012", "00012"],
    ["1.500", "1.500"],
    ["1E3", "1E3"],
    ["1e20", "100e18"],
    ["1.1Gi", "1181116006400m"],
  ])("quantity %s is %s", (text, canonical) => {
    expect(canonicalQuantity(text)).toBe(canonical);
  });

  it.each([
    ["90s", "1m30s"],
    ["1h", "1h0m0s"],
    ["1500ms", "1.5s"],
    ["0", "0s"],
    ["-1m", "-1m0s"],
    ["1.5us", "1.5µs"],
  ])("duration %s is %s", (text, canonical) => {
    expect(canonicalDuration(text)).toBe(canonical);
  });

  it("times are in UTC, to the second or the microsecond", () => {
    expect(canonicalTime("2024-01-01T01:00:00.123+01:00")).toBe("2024-01-01T00:00:00Z");
    expect(canonicalTime("2024-01-01T01:00:00.100000+01:00", 6)).toBe("2024-01-01T00:00:00.100000Z");
    expect(() => canonicalTime("2024-01-01T00:00:00Z", 6)).toThrow('cannot parse "Z" as ".000000"');
    expect(() => canonicalTime("2024-01-01T00:00:00.1Z", 6)).toThrow('cannot parse ".1Z" as ".000000"');
    expect(() => canonicalTime("2024-01-01T00:00:00.1234567Z", 6)).toThrow('cannot parse "7Z" as "Z07:00"');
    expect(() => canonicalTime("2024-02-30T00:00:00Z")).toThrow("day out of range");
  });
});

describe("duplicate keys", () => {
  it("are found at every depth, escaped or not", () => {
    const text = '{"a":1,"b":[{"c":1,"c":2},{"d":{"\\u0065":1,"e":"\\"a\\":"}}],"a":2,"f":"{\\"x\\":1,\\"x\\":2}"}';
    expect(duplicateKeys(text, JSON.parse(text))).toEqual(["b[0].c", "b[1].d.e", "a"]);
  });

  it("are not found where there are none", () => {
    const text = '[{"a":1},{"a":1}, "a:", {"b":{"a":1}}, {"__proto__": {"\\\\":" : "}}]';
    expect(duplicateKeys(text, JSON.parse(text))).toEqual([]);
  });

  it("are found below any depth", () => {
    const text = `${"[".repeat(20_000)}{"a":1,"a":2}${"]".repeat(20_000)}`;
    expect(duplicateKeys(text, JSON.parse(text))).toHaveLength(1);
  });
});

const podMessage = facts.messageOf("v1", "Pod")!;

const pod: JsonObject = {
  kind: "Pod",
  apiVersion: "v1",
  metadata: { name: "a", namespace: "b", labels: { z: "1", a: "2" }, ownerReferences: [] },
  spec: {
    containers: [{ name: "main", image: "web", resources: { limits: { cpu: "0.5", memory: "1024Mi" } } }],
    volumes: [{ name: "v", emptyDir: {} }],
    nodeSelector: { a: "b" },
  },
  status: { phase: "Pending", conditions: [{ type: "Ready", status: "False", lastTransitionTime: null }] },
};
const known = decodeStruct(podMessage, pod).object;

const patch = fc.record(
  {
    metadata: fc.record(
      { labels: fc.constantFrom({ z: null }, { b: "3" }), annotations: fc.constant({ n: "" }), none: fc.constant(1) },
      { requiredKeys: [] },
    ),
    spec: fc.record(
      {
        nodeSelector: fc.constantFrom({ a: null }, { c: "d" }),
        containers: fc.constantFrom([], [{ name: "other", resources: { requests: { cpu: "1000m" } }, zzz: 1 }]),
        securityContext: fc.constantFrom({}, { runAsUser: 0 }),
        hostNetwork: fc.boolean(),
      },
      { requiredKeys: [] },
    ),
    status: fc.record(
      { phase: fc.constantFrom("Running", "", null), conditions: fc.constantFrom([], [{ type: "A", status: "True" }]) },
      { requiredKeys: [] },
    ),
  },
  { requiredKeys: [] },
);

describe("an object derived from a known one", () => {
  it("is decoded as if nothing were known, whatever was changed", () => {
    fc.assert(
      fc.property(patch, fc.boolean(), (change, isTwice) => {
        const patched = mergePatch(known, change as JsonObject);
        const base = isTwice ? decodeStruct(podMessage, patched, known).object : known;
        expect(decodeStruct(podMessage, patched, base)).toEqual(decodeStruct(podMessage, patched));
        expect(JSON.stringify(decodeStruct(podMessage, patched, base).object)).toBe(
          JSON.stringify(decodeStruct(podMessage, patched).object),
        );
      }),
    );
  });

  it("shares unchanged parts", () => {
    const patched = mergePatch(known, { status: { phase: "Running" } });
    const { object } = decodeStruct(podMessage, patched, known);
    expect(object.spec).toBe(known.spec);
  });
});
