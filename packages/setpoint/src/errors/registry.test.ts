import { existsSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import type { ErrorEntry } from "./error.js";
import { errorRegistry } from "./registry.js";

type Registry = Readonly<Record<string, ErrorEntry>>;

const root = new URL("../../../../", import.meta.url);

/** The registries of all packages: ours, and each record of entries that another package's `src/errors.ts` exports. */
async function collectRegistries(): Promise<Map<string, Registry>> {
  const registries = new Map<string, Registry>([["setpoint", errorRegistry]]);
  for (const group of ["packages/", "operators/"]) {
    for (const name of readdirSync(new URL(group, root)).sort()) {
      const file = new URL(`${group}${name}/src/errors.ts`, root);
      if (!existsSync(file)) continue;
      const exported = Object.values((await import(fileURLToPath(file))) as Record<string, unknown>);
      const registry = exported.find(isRegistry);
      if (!registry) throw new Error(`${group}${name}/src/errors.ts exports no registry made by defineErrors`);
      registries.set(name, registry);
    }
  }
  return registries;
}

function isRegistry(value: unknown): value is Registry {
  if (typeof value !== "object" || value === null) return false;
  const entries: unknown[] = Object.values(value);
  return entries.length > 0 && entries.every((entry) => typeof (entry as ErrorEntry | undefined)?.cure === "string");
}

function renderPage(registries: ReadonlyMap<string, Registry>): string {
  const sections = [...registries].map(([name, registry]) => {
    const rows = Object.entries(registry).map(([code, { summary, cure }]) => `| \`${code}\` | ${summary} | ${cure} |`);
    return [`## ${name}`, "", "| code | what happened | cure |", "| --- | --- | --- |", ...rows.sort()].join("\n");
  });
  return [
    "# Errors",
    "",
    'Every error that Setpoint throws has a stable code: `isSetpointError(error, "ABORTED")`. Messages name the file, field',
    "or object and may change; codes never change their meaning. The registries are the source of this page:",
    "`npx vitest run packages/setpoint/src/errors -u` writes it anew.",
    "",
    sections.join("\n\n"),
    "",
  ].join("\n");
}

describe("the error registries", () => {
  it("match docs/errors.md", async () => {
    const page = renderPage(await collectRegistries());
    await expect(page).toMatchFileSnapshot(fileURLToPath(new URL("docs/errors.md", root)));
  });

  it("have each code once, in capitals, with a sentence for the cause and one for the cure", async () => {
    const seen = new Set<string>();
    for (const registry of (await collectRegistries()).values()) {
      for (const [code, { summary, cure }] of Object.entries(registry)) {
        expect(code).toMatch(/^[A-Z][A-Z0-9]*(_[A-Z0-9]+)*$/);
        expect(seen.has(code), `${code} is registered twice`).toBe(false);
        seen.add(code);
        for (const sentence of [summary, cure]) {
          expect(sentence, code).toMatch(/\.$/);
          expect(sentence, `${code}: a bar would break the table`).not.toMatch(/[|\n]/);
        }
      }
    }
  });
});
