import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { startKubernetes } from "../../../../tools/kubernetes/start.mjs";
import { controlPlane } from "../control-plane.js";

const run = promisify(execFile);
const kubernetes = fileURLToPath(new URL("../../../../tools/kubernetes", import.meta.url));

type Step = { readonly step: string; readonly error?: string; readonly result?: unknown };

/** The real server answers in protobuf, which cannot express the kind of an embedded object; ours answers in JSON. */
function withoutInnerKinds(key: string, value: unknown): unknown {
  if (key !== "volumeClaimTemplates") return value;
  return (value as readonly Record<string, unknown>[]).map(({ apiVersion, kind, ...claim }) => claim);
}

function* differences(ours: unknown, theirs: unknown, path: string): Iterable<string> {
  if (JSON.stringify(ours) === JSON.stringify(theirs)) return;
  const isRecord = (value: unknown): value is Record<string, unknown> =>
    typeof value === "object" && value !== null && !Array.isArray(value);
  if (!isRecord(ours) || !isRecord(theirs)) {
    yield `${path}: ${JSON.stringify(ours)} instead of ${JSON.stringify(theirs)}`;
    return;
  }
  for (const key of new Set([...Object.keys(ours), ...Object.keys(theirs)])) {
    yield* differences(ours[key], theirs[key], `${path}.${key}`);
  }
}

it("client-go's typed clients behave as on a real server", { timeout: 1_800_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), "setpoint-clientset-"));
  const program = join(folder, "clientset");
  try {
    await run("go", ["build", "-o", program, "../harvest/clientset/main.go"], { cwd: kubernetes });
    const steps = async (kubeconfig: string): Promise<readonly Step[]> => {
      const { stdout } = await run(program, [kubeconfig], { maxBuffer: 2 ** 24 });
      const lines = stdout.trim().split("\n");
      return lines.map((line) => JSON.parse(line, withoutInnerKinds) as Step);
    };
    // The real server below has no tokens for pods either.
    const plane = await controlPlane({ listen: {}, disabledAdmission: ["ServiceAccount"] });
    writeFileSync(join(folder, "kubeconfig"), plane.kubeconfig!, { mode: 0o600 });
    const ours = await steps(join(folder, "kubeconfig"));
    await plane.stop();
    const cluster = await startKubernetes({ controllerManager: true });
    const theirs = await steps(cluster.kubeconfig);
    await cluster.stop();
    const found = theirs.flatMap((step, index) => [...differences(ours[index], step, step.step)]);
    expect(found).toEqual([]);
    expect(ours).toHaveLength(theirs.length);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
