import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { isProduct, packages, root, withoutComments } from "./sources.js";

interface Entry {
  readonly summary: string;
  readonly cure: string;
}

/** Where each package registers its codes. */
const FILES: readonly string[] = ["src/errors.ts", "src/errors/registry.ts"];

function isEntry(value: unknown): value is Entry {
  return typeof value === "object" && value !== null && "summary" in value && "cure" in value;
}

async function codesOf(folder: string): Promise<readonly string[]> {
  const file = FILES.map((name) => join(root, folder, name)).find((path) => existsSync(path));
  if (file === undefined) return [];
  const exported: unknown[] = Object.values((await import(file)) as Record<string, unknown>);
  return exported.flatMap((value) =>
    typeof value === "object" && value !== null && Object.values(value).every(isEntry) ? Object.keys(value) : [],
  );
}

it("every registered error code is used by the product", async () => {
  const code = packages()
    .flatMap(({ folder, sources }) =>
      sources.filter(({ path }) => isProduct(path) && !FILES.some((name) => path === `${folder}/${name}`)),
    )
    .map(({ text }) => withoutComments(text))
    .join("\n");
  const words = new Set(code.match(/"[A-Z][A-Z0-9_]+"/g));
  const codes = (await Promise.all(packages().map(({ folder }) => codesOf(folder)))).flat();
  expect(codes.length).toBeGreaterThan(100);
  expect(codes.filter((each) => !words.has(`"${each}"`))).toEqual([]);
});
