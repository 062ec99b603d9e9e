import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { connect } from "setpoint";
import { systemClock } from "setpoint/clock";
import { ConfigMap, Namespace } from "setpoint/kinds/v1";
import { expect, it } from "vitest";
import { kubeconfigIn, UpProcess } from "./testing/up-process.js";

const root = fileURLToPath(new URL("../../../../", import.meta.url));
const readme = readFileSync(join(root, "README.md"), "utf8");
const blocks = (language: string): string[] =>
  [...readme.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, "gms"))].map(([, text]) => text!);

it("has a loop of at most 15 lines, and commands that start and test it", () => {
  expect(blocks("js")[0]!.trimEnd().split("\n").length).toBeLessThanOrEqual(15);
  expect(blocks("sh")[0]).toBe("npm install && npm run build && npx setpoint up\n");
  expect(blocks("sh")).toContain("npm install && npm test\n");
});

it("has a loop that works as described", { timeout: 60_000 }, async () => {
  // Within the package, so that the loop resolves `setpoint`.
  const folder = mkdtempSync(join(root, "packages/cli/dist/readme-test-"));
  let loop: ChildProcess | undefined;
  try {
    writeFileSync(join(folder, "welcome.mjs"), blocks("js")[0]!);
    await using _up = await new UpProcess(join(folder, "data")).ready();
    const kubeconfig = kubeconfigIn(join(folder, "data"));
    loop = spawn(process.execPath, ["welcome.mjs"], {
      cwd: folder,
      env: { ...process.env, KUBECONFIG: kubeconfig },
      stdio: "ignore",
    });
    await using client = await connect({ kubeconfig });
    await client.create(Namespace, { metadata: { name: "shop", labels: { appOwner: "DevOps" } } });
    const greeting = async (): Promise<string> => {
      for (;;) {
        const map = await client.find(ConfigMap, "welcome", { namespace: "shop" });
        if (map) return map.data!.text!;
        await systemClock.sleep(20);
      }
    };
    expect(await greeting()).toBe("Hello, DevOps!");
    await client.delete(ConfigMap, "welcome", { namespace: "shop" });
    expect(await greeting()).toBe("Hello, DevOps!");
    loop.kill("SIGTERM");
    expect(await once(loop, "exit")).toEqual([0, null]);
  } finally {
    loop?.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  }
});
