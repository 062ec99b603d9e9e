import { existsSync, readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { translateCase } from "./golden.js";

const folder = fileURLToPath(new URL("../../../../../shared/fixtures/agents/", import.meta.url));
const names = existsSync(folder) ? readdirSync(`${folder}inputs`).map((file) => file.replace(/\.yaml$/, "")) : [];

describe.skipIf(names.length === 0)("kagent's own cases (skipped where ../shared/fixtures/agents is absent)", () => {
  it.each(names)("%s is translated as kagent does, and the same twice [30]", async (name) => {
    const input = readFileSync(`${folder}inputs/${name}.yaml`, "utf8");
    const expected: unknown = JSON.parse(readFileSync(`${folder}expected/${name}.json`, "utf8"));
    const translated = await translateCase(input);
    expect(translated).toEqual(expected);
    expect(JSON.stringify(await translateCase(input))).toBe(JSON.stringify(translated));
  });
});
