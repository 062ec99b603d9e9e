import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runMain } from "../testing/command-line.js";
import { Flags } from "./flags.js";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "setpoint-assets-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe("setpoint envtest-assets", () => {
  it("writes the three programs that envtest looks for", async () => {
    const { code, out } = await runMain(["envtest-assets", folder]);
    expect(code).toBe(0);
    expect(out).toBe(`KUBEBUILDER_ASSETS=${folder}`);
    expect(readdirSync(folder)).toEqual(["etcd", "kube-apiserver", "kubectl"]);
    for (const name of readdirSync(folder)) expect(statSync(join(folder, name)).mode & 0o111).toBe(0o111);
  });

  it("reports its flags to envtest: none for a port without TLS", async () => {
    await runMain(["envtest-assets", folder]);
    const help = execFileSync(join(folder, "kube-apiserver"), ["--help"], { encoding: "utf8" });
    expect(help).toContain("--secure-port");
    expect(help).not.toContain("--insecure-port");
  });

  it("requires one folder", async () => {
    expect((await runMain(["envtest-assets"])).code).toBe(2);
  });
});

describe("flags", () => {
  it("are parsed in each of their forms", () => {
    const flags = new Flags(["--a=1", "--b", "2", "--c", "--d="]);
    expect(["a", "b", "c", "d"].map((name) => flags.get(name))).toEqual(["1", "2", "true", undefined]);
  });
});
