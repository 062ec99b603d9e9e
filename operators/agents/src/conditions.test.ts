import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const read = (path: string): string => readFileSync(fileURLToPath(new URL(path, import.meta.url)), "utf8");

/** `reason: "X"`, and the reasons in calls of the controllers' helpers. */
const REASONS = [
  /reason: "(\w+)"/g,
  /(?:accepted|set)\(\s*"\w+",(?: \w+,)? "(\w+)"/g,
  /reject\("(\w+)"/g,
  /MCP_\w+: "(\w+)"/g,
  /\? "(\w+)" : "(\w+)"/g,
];

it("every reason of a condition has a row with its cure in the documentation", () => {
  const folder = fileURLToPath(new URL("./controllers/", import.meta.url));
  const source = readdirSync(folder)
    .filter((name) => name.endsWith(".ts"))
    .map((name) => read(`./controllers/${name}`))
    .join("\n");
  const found = REASONS.flatMap((pattern) => [...source.matchAll(pattern)].flatMap(([, ...names]) => names));
  const statuses = ["True", "False", "Unknown"];
  const reasons = new Set(found.filter((name) => /^[A-Z]/.test(name!) && !statuses.includes(name!)));
  expect(reasons.size).toBeGreaterThan(25);
  const rows = read("../../../docs/agents.md")
    .split("\n")
    .filter((line) => line.startsWith("| "));
  const missing = [...reasons].filter((reason) => !rows.some((row) => row.includes(`\`${reason}\``)));
  expect(missing).toEqual([]);
});
