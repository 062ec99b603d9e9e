import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { root } from "./sources.js";

const INDEX = join(root, "packages/setpoint/dist/index.js");

/** What `import "setpoint"` loads eagerly: files of the package, and other modules. */
function loadedWith(index: string): { readonly files: readonly string[]; readonly foreign: readonly string[] } {
  const files = new Set([index]);
  const foreign = new Set<string>();
  for (const file of files) {
    const imports = readFileSync(file, "utf8").matchAll(/^(?:import|export)\b[^;]*?(?:\bfrom)?"([^"]+)";?$/gm);
    for (const [, target] of imports) {
      if (target!.startsWith(".")) files.add(join(dirname(file), target!));
      else foreign.add(target!);
    }
  }
  return { files: [...files], foreign: [...foreign] };
}

// Counts files, because times vary. `npm run bench -- import` measures the time.
it.skipIf(!existsSync(INDEX))('`import "setpoint"` loads no more than necessary (needs the build)', () => {
  const { files, foreign } = loadedWith(INDEX);
  const bytes = files.reduce((sum, file) => sum + readFileSync(file).length, 0);
  expect.soft(foreign, "load it with process.getBuiltinModule or import() where it is used").toEqual(["node:buffer"]);
  expect.soft(files.length, "see tools/build/eager-chunks.mjs").toBeLessThanOrEqual(4);
  expect.soft(bytes, "let what is heavy load with import() where it is first needed").toBeLessThan(460_000);
});

it.skipIf(!existsSync(INDEX))("a built file is ASCII, without overlong lines (needs the build)", () => {
  for (const file of loadedWith(INDEX).files) {
    const code = readFileSync(file, "utf8");
    expect.soft(/[^\0-\x7f]/.exec(code)?.[0], file).toBeUndefined();
    expect.soft(Math.max(...code.split("\n").map((line) => line.length)), file).toBeLessThan(20_000);
  }
});
