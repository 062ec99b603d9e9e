import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { StatusError } from "../api/status-error.js";
import { loadFacts } from "../facts/facts.js";
import { decodeProtobufBody } from "./request-body.js";

const facts = await loadFacts();
const configMap = { apiVersion: "v1", kind: "ConfigMap" };

function varint(value: number): number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...varint(value >>> 7)];
}

/** A length-delimited field. */
function part(number: number, content: string | Uint8Array): Buffer {
  const bytes = Buffer.from(content as string);
  return Buffer.concat([Buffer.from([...varint((number << 3) | 2), ...varint(bytes.length)]), bytes]);
}

function body(apiVersion: string, kind: string, raw: Uint8Array): Buffer {
  const typeMeta = Buffer.concat([part(1, apiVersion), part(2, kind)]);
  return Buffer.concat([Buffer.from("k8s\0"), part(1, typeMeta), part(2, raw)]);
}

function refusal(bytes: Uint8Array, expected = configMap): string {
  try {
    decodeProtobufBody(facts, bytes, expected);
  } catch (error) {
    if (error instanceof StatusError && error.status.code === 400) return error.status.message;
    throw error;
  }
  throw new Error("was decoded");
}

describe("decodeProtobufBody", () => {
  it("decodes an object, in the order of Go's JSON and without empty fields", () => {
    const metadata = Buffer.concat([
      part(1, "settings"),
      part(2, ""),
      part(11, Buffer.concat([part(1, "a"), part(2, "b")])),
    ]);
    const raw = Buffer.concat([part(1, metadata), part(2, Buffer.concat([part(1, "k"), part(2, "v")]))]);
    expect(JSON.stringify(decodeProtobufBody(facts, body("v1", "ConfigMap", raw), configMap))).toBe(
      '{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"settings","labels":{"a":"b"}},"data":{"k":"v"}}',
    );
  });

  it("treats a body without a kind as what the endpoint expects", () => {
    const raw = part(1, part(1, "n"));
    const bytes = Buffer.concat([Buffer.from("k8s\0"), part(2, raw)]);
    expect(decodeProtobufBody(facts, bytes, configMap)).toEqual({ ...configMap, metadata: { name: "n" } });
  });

  it("merges a message that is split, and skips unknown fields", () => {
    const raw = Buffer.concat([part(1, part(1, "n")), part(900, "later"), part(1, part(3, "ns"))]);
    const decoded = decodeProtobufBody(facts, body("v1", "ConfigMap", raw), configMap);
    expect(decoded).toEqual({ ...configMap, metadata: { name: "n", namespace: "ns" } });
  });

  it("keeps a key named __proto__ as an ordinary key", () => {
    const raw = part(2, Buffer.concat([part(1, "__proto__"), part(2, "v")]));
    const decoded = decodeProtobufBody(facts, body("v1", "ConfigMap", raw), configMap);
    expect(JSON.stringify(decoded.data)).toBe('{"__proto__":"v"}');
    expect(Object.getPrototypeOf(decoded.data)).toBe(Object.prototype);
  });

  it("decodes DeleteOptions of any group version", () => {
    const raw = Buffer.concat([Buffer.from([0x08, 0x00]), part(4, "Background")]);
    expect(
      decodeProtobufBody(facts, body("apps/v1", "DeleteOptions", raw), { apiVersion: "v1", kind: "DeleteOptions" }),
    ).toEqual({ apiVersion: "apps/v1", kind: "DeleteOptions", gracePeriodSeconds: 0, propagationPolicy: "Background" });
  });

  it.each([
    ["", "empty data (<empty>)"],
    ["616263", "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0] (616263)"],
    ["6b387300", "empty body (6b387300)"],
    ["6b3873000a", "unexpected EOF (6b3873000a)"],
    ["6b3873000a050a", "unexpected EOF (6b3873000a050a)"],
    ["6b3873000f", "proto: wrong wireType = 7 for field TypeMeta (6b3873000f)"],
    ["6b38730000", "proto: Unknown: illegal tag 0 (wire type 0) (6b38730000)"],
    ["6b3873000801", "proto: wrong wireType = 0 for field TypeMeta (6b3873000801)"],
  ])("refuses the envelope %s as the real server does", (hex, message) => {
    expect(refusal(Buffer.from(hex, "hex"))).toBe(
      `the object provided is unrecognized (must be of type ConfigMap): ${message}`,
    );
  });

  it.each([
    ["0801", "proto: wrong wireType = 0 for field ObjectMeta"],
    ["0a05", "unexpected EOF"],
    ["0affffffffffffffffff01", "proto: negative length found during unmarshaling"],
    ["0affffffffffffffffffff01", "proto: integer overflow"],
    ["0e00", "proto: wrong wireType = 6 for field ObjectMeta"],
    ["0000", "proto: ConfigMap: illegal tag 0 (wire type 0)"],
    ["0400", "proto: ConfigMap: wiretype end group for non-group"],
  ])("refuses the content %s as the real server does", (hex, message) => {
    expect(refusal(body("v1", "ConfigMap", Buffer.from(hex, "hex")))).toBe(
      `ConfigMap in version "v1" cannot be handled as a ConfigMap: ${message}`,
    );
  });

  it("refuses a kind that does not exist", () => {
    expect(refusal(body("v1", "Nope", Buffer.of()))).toBe(
      'Nope in version "v1" cannot be handled as a ConfigMap: no kind "Nope" is registered for version "v1" in scheme "pkg/runtime/scheme.go:111"',
    );
  });

  it("refuses endless nesting instead of exhausting the stack", () => {
    let schema: Buffer = Buffer.of();
    for (let depth = 0; depth < 3_000; depth++) schema = part(28, schema);
    const definition = { apiVersion: "apiextensions.k8s.io/v1", kind: "CustomResourceDefinition" };
    const raw = part(2, part(7, part(4, part(1, schema))));
    expect(refusal(body(definition.apiVersion, definition.kind, raw), definition)).toContain("nesting depth");
  });

  it("fails on arbitrary bytes only with a 400", () => {
    const kinds = ["v1/Pod", "v1/Secret", "apps/v1/Deployment", "apiextensions.k8s.io/v1/CustomResourceDefinition"];
    const field = fc.record({ number: fc.integer({ min: 1, max: 45 }), content: fc.uint8Array({ maxLength: 60 }) });
    const nested = fc.array(field, { maxLength: 4 }).map((fields) => {
      return Buffer.concat(fields.map(({ number, content }) => part(number, part((number % 20) + 1, content))));
    });
    const raws = fc.oneof(fc.uint8Array({ maxLength: 200 }), nested);
    fc.assert(
      fc.property(fc.constantFrom(...kinds), raws, (id, raw) => {
        const at = id.lastIndexOf("/");
        const expected = { apiVersion: id.slice(0, at), kind: id.slice(at + 1) };
        try {
          JSON.stringify(decodeProtobufBody(facts, body(expected.apiVersion, expected.kind, raw), expected));
        } catch (error) {
          if (!(error instanceof StatusError) || error.status.code !== 400) throw error;
        }
      }),
      { numRuns: 3000 },
    );
  });
});
