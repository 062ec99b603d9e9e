import { execFile } from "node:child_process";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const root = fileURLToPath(new URL("../../../../", import.meta.url));
const guide = readFileSync(join(root, "docs/pipelines.md"), "utf8");
const steps = [...guide.matchAll(/^```sh\n(.*?)^```/gms)].map(([, text]) => text!);

it("the ten minutes of docs/pipelines.md work as written (needs the build)", { timeout: 120_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), "setpoint-guide-"));
  try {
    // Like an installed package.
    writeFileSync(
      join(folder, "npx"),
      `#!/bin/sh\nshift\nexec "${process.execPath}" "${root}packages/setpoint/bin/setpoint.js" "$@"\n`,
    );
    chmodSync(join(folder, "npx"), 0o755);
    const env = { ...process.env, PATH: `${folder}${delimiter}${process.env.PATH}` };
    const script = ["set -e", ...steps].join("\n");
    const { out, err } = await new Promise<{ out: string; err: string }>((resolve, reject) => {
      execFile("bash", ["-c", script], { cwd: folder, env }, (error, stdout, stderr) => {
        if (error) reject(new Error(`${error.message}\n${stdout}\n${stderr}`));
        else resolve({ out: stdout, err: stderr });
      });
    });
    expect(out).toContain("1 executed, 0 settled, 0 failed");
    expect(out).toContain("it was never built");
    expect(out).toMatch(/2026-01-05 +2 +52\.5/);
    expect(out).toContain("the test failed, and the table of before is still there");
    expect(err).toContain("every day has sales");
    expect(out).toMatch(/days\n2\n/);
    expect(out).toContain("Model/daily_sales is ");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
