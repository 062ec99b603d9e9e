import { execFileSync } from "node:child_process";
import { randomInt } from "node:crypto";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { loadFacts } from "../facts/facts.js";
import { decodeProtobufBody } from "./request-body.js";

const facts = await loadFacts();
const kubernetes = fileURLToPath(new URL("../../../../tools/kubernetes", import.meta.url));

interface Encoded {
  readonly apiVersion: string;
  readonly kind: string;
  readonly protobuf: string;
  readonly json: unknown;
}

/** Objects of every served kind, the first of each empty and the others random, as Go encodes them. */
function encodedByGo(seed: number, rounds: number): readonly Encoded[] {
  const versions = facts.groups.flatMap(({ group, versions }) =>
    versions.map(({ version }) => (group === "" ? version : `${group}/${version}`)),
  );
  const program = ["run", "../harvest/roundtrip/main.go", String(seed), String(rounds), ...versions];
  const output = execFileSync("go", program, { cwd: kubernetes, encoding: "utf8", maxBuffer: 2 ** 29 });
  return output
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Encoded);
}

describe("protobuf bodies that Go encodes", () => {
  const seed = randomInt(2 ** 31);
  it(`decode to the JSON that Go writes for the same object (seed ${seed})`, { timeout: 300_000 }, () => {
    const kinds = new Set<string>();
    for (const { apiVersion, kind, protobuf, json } of encodedByGo(seed, 12)) {
      kinds.add(`${apiVersion}/${kind}`);
      const body = Buffer.from(protobuf, "base64");
      expect(decodeProtobufBody(facts, body, { apiVersion, kind }), `${apiVersion} ${kind}`).toEqual(json);
    }
    expect(kinds.size).toBeGreaterThan(80);
  });
});
