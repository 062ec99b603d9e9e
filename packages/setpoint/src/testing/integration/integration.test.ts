import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { integrationSuite } from "./integration.suite.js";

interface ListeningPlane extends AsyncDisposable {
  readonly kubeconfig: string;
}

integrationSuite("the embedded control plane", async () => {
  const { controlPlane } = (await import("@setpoint/control-plane" as string)) as {
    controlPlane: (options: { listen: object }) => Promise<ListeningPlane>;
  };
  const plane = await controlPlane({ listen: {} });
  const folder = await mkdtemp(join(tmpdir(), "setpoint-plane-"));
  const kubeconfig = join(folder, "kubeconfig");
  await writeFile(kubeconfig, plane.kubeconfig, { mode: 0o600 });
  return {
    kubeconfig,
    [Symbol.asyncDispose]: async () => {
      await plane[Symbol.asyncDispose]();
      await rm(folder, { recursive: true, force: true });
    },
  };
});
