import { Buffer } from "node:buffer";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Dictionary } from "./dictionary.js";

function encode(dictionary: Dictionary, body: Buffer, mayLearn = true): Buffer {
  const copyBody = (target: Buffer, offset: number): void => void body.copy(target, offset);
  const length = dictionary.encode({ bodyLength: body.length, copyBody }, mayLearn);
  return Buffer.from(dictionary.coded.subarray(0, length));
}

function decode(dictionary: Dictionary, code: Buffer, length: number): Buffer {
  const before = Buffer.from("what stands before it");
  const body = dictionary.decode(Buffer.concat([before, code]), before.length, length);
  return Buffer.from(body.subarray(0, length));
}

const website = (number: number): Buffer =>
  Buffer.from(
    JSON.stringify({
      metadata: { name: `website-${number}`, labels: { app: "website", shard: String(number % 100) }, generation: 1 },
      spec: {
        image: `registry.example.com/websites/site-${number % 500}`,
        replicas: number % 5,
        hosts: [`${number}.com`],
      },
      status: { conditions: [{ type: "Ready", status: "True", reason: "Deployed", message: "all is up to date" }] },
    }),
  );

let state = 1;
const noise = (): number => (state = (state * 48_271) % 2_147_483_647) & 0xff;
const noiseOf = (length: number): Buffer => Buffer.from(Array.from({ length }, noise));

/** Bodies that repeat pieces of each other, in any order and with anything in between. */
const piece = fc.oneof(
  fc.constantFrom('{"metadata":{"name":"', '","namespace":"default"}', "spec", '"é…"', "0".repeat(300)),
  fc.json(),
  fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
  fc.nat(100).map((size) => Buffer.alloc(size * 1000, "a long stretch of it, ")),
);
const bodies = fc.array(
  fc.array(piece, { maxLength: 8 }).map((pieces) => Buffer.concat(pieces.map((one) => Buffer.from(one)))),
  { maxLength: 30 },
);

describe("dictionary", () => {
  it("decodes every body as it was, whatever was learnt since", () => {
    fc.assert(
      fc.property(bodies, fc.infiniteStream(fc.boolean()), (all, mayLearn) => {
        const dictionary = new Dictionary();
        const codes = all.map((body) => encode(dictionary, body, mayLearn.next().value));
        all.forEach((body, at) => {
          expect(decode(dictionary, codes[at]!, body.length).equals(body)).toBe(true);
        });
      }),
      { numRuns: 300 },
    );
  });

  it("compresses similar bodies to a quarter", () => {
    const dictionary = new Dictionary();
    const all = Array.from({ length: 1000 }, (_, number) => website(number));
    const codes = all.map((body) => encode(dictionary, body));
    const sum = (buffers: readonly Buffer[]): number => buffers.reduce((bytes, one) => bytes + one.length, 0);
    expect(sum(codes) / sum(all)).toBeLessThan(0.25);
  });

  it("learns the unknown parts of a large body step by step", () => {
    const dictionary = new Dictionary();
    const body = noiseOf(20_000);
    const lengths = [1, 2, 3].map(() => encode(dictionary, body).length);
    expect(lengths[1]).toBeLessThan(lengths[0]! - 8_000);
    expect(lengths[2]).toBeLessThan(lengths[1]! - 8_000);
  });

  it("adds next to nothing to bodies without similarity, and learns only a limited part of them", () => {
    const dictionary = new Dictionary();
    for (let count = 0; count < 300; count++) {
      const body = noiseOf(2000);
      const code = encode(dictionary, body);
      expect(code.length).toBeLessThanOrEqual(body.length + 2);
      expect(decode(dictionary, code, body.length).equals(body)).toBe(true);
    }
    expect(dictionary.bytes).toBeLessThan(100_000);
  });

  it("learns nothing if it is not allowed to", () => {
    const dictionary = new Dictionary();
    for (let number = 0; number < 10; number++) {
      expect(encode(dictionary, website(number), false).length).toBeGreaterThan(website(number).length);
    }
  });
});
