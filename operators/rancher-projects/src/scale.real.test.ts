import { connect } from "setpoint";
import { it } from "vitest";
import { startKubernetes } from "../../../tools/kubernetes/start.mjs";
import { expectExactPatches } from "./scale.suite.js";

it("settles 2,000 namespaces and 200 projects with 2,000 patches on a real server", { timeout: 300_000 }, async () => {
  await using cluster = await startKubernetes({});
  await using admin = await connect({ kubeconfig: cluster.kubeconfig });
  await expectExactPatches(admin);
});
