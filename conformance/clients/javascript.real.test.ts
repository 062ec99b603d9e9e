import { fileURLToPath } from "node:url";
import { beforeAll, expect, it } from "vitest";
import { installPackages } from "../../bench/npm-packages.mjs";
import { stepsOf } from "./program.js";

let packages: string;
beforeAll(() => {
  packages = installPackages(["@kubernetes/client-node@1.4.0"]);
});

it("serves the official JavaScript client", async () => {
  const program = fileURLToPath(new URL("javascript/program.mjs", import.meta.url));
  expect(await stepsOf(process.execPath, [program, packages])).toEqual([
    "definition established",
    "typed objects",
    "patches of every kind",
    "custom objects",
    "objects of any kind",
    "watch",
    "informer",
    "access reviews and tokens",
    "definition and namespace deleted",
  ]);
});
