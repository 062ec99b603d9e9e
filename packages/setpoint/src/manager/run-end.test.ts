import { expect, it } from "vitest";
import type { Client } from "../client/client.js";
import { systemClock } from "../clock/system-clock.js";
import { ConfigMap, Secret } from "../kinds/builtin/v1.js";
import { BuiltProcess } from "./built-process.testing.js";

interface ListeningPlane extends AsyncDisposable {
  readonly client: Client;
  readonly kubeconfig: string;
}
const { controlPlane } = (await import("@setpoint/control-plane" as string)) as {
  controlPlane: (options: { listen: object }) => Promise<ListeningPlane>;
};

/** Its reconciler ignores signals, and keeps the event loop alive for longer than any test. */
const DEAF = `
import { controller, run } from "setpoint";
import { ConfigMap } from "setpoint/kinds/v1";
const deaf = controller(ConfigMap, {
  name: "deaf",
  namespaces: ["default"],
  async reconcile({ metadata }) {
    if (metadata.name !== "long") return;
    console.log("begins");
    await new Promise((resolve) => setTimeout(resolve, 3_600_000));
  },
});
await run(deaf, { grace: 100 });
console.log("after run");
`;

it("ends a process that was told to end, although a reconciler never returns", async () => {
  await using plane = await controlPlane({ listen: {} });
  await plane.client.create(ConfigMap, { metadata: { namespace: "default", name: "long" } });
  await using operator = new BuiltProcess(DEAF, plane.kubeconfig);
  while (!operator.output.includes("begins")) {
    operator.assertRunning();
    await systemClock.sleep(50);
  }
  operator.process.kill("SIGTERM");
  expect(await operator.ended).toBe(0);
  expect(operator.output).toContain('"stuck":["controller deaf default/long"]');
  expect(operator.output).toContain("after run");
}, 60_000);

/** Does not await a failing promise, and quotes a Secret in its error. */
const FORGETFUL = `
import { controller, run } from "setpoint";
import { Secret } from "setpoint/kinds/v1";
const forgets = controller(Secret, {
  name: "forgets",
  namespaces: ["default"],
  reconcile({ data }) {
    const password = Buffer.from(data.password, "base64").toString();
    void Promise.reject(new Error("cannot log in with " + password));
  },
});
await run(forgets);
`;

it("logs an unhandled rejection with Secrets masked, and goes on", async () => {
  await using plane = await controlPlane({ listen: {} });
  const metadata = { namespace: "default", name: "login" };
  await plane.client.create(Secret, { metadata, stringData: { password: "correct-horse-battery" } });
  await using operator = new BuiltProcess(FORGETFUL, plane.kubeconfig);
  while (!operator.output.includes("unhandled promise rejection")) {
    operator.assertRunning();
    await systemClock.sleep(50);
  }
  operator.process.kill("SIGTERM");
  expect(await operator.ended).toBe(0);
  expect(operator.output).toContain("cannot log in with ***");
  expect(operator.output).not.toContain("correct-horse");
}, 60_000);
