import { Deployment } from "setpoint/kinds/apps/v1";
import { describe, expect, it } from "vitest";
import { Simulation } from "../simulation.testing.js";
import { Stage } from "./stage.js";

const container = (ready: boolean, state: string): string => `
containerStatuses:
{{ range .spec.containers }}
- { name: {{ .name }}, image: {{ .image }}, imageID: "", ready: ${ready}, restartCount: 3, state: ${state} }
{{ end }}
conditions:
- { type: Ready, status: "${ready ? "True" : "False"}", lastTransitionTime: {{ Now | Quote }} }
`;

const waiting = (reason: string): string => container(false, `{ waiting: { reason: ${reason} } }`);

/** A failure, its stage, and the expected state of the pod. */
const FAILURES: readonly (readonly [string, string, object])[] = [
  [
    "a crash loop",
    `phase: Running\n${waiting("CrashLoopBackOff")}`,
    { phase: "Running", containerStatuses: [{ state: { waiting: { reason: "CrashLoopBackOff" } }, restartCount: 3 }] },
  ],
  [
    "an image that cannot be pulled",
    `phase: Pending\n${waiting("ImagePullBackOff")}`,
    { phase: "Pending", containerStatuses: [{ state: { waiting: { reason: "ImagePullBackOff" } } }] },
  ],
  [
    "a lack of memory",
    `phase: Running\n${container(false, "{ terminated: { exitCode: 137, reason: OOMKilled } }")}`,
    { containerStatuses: [{ state: { terminated: { exitCode: 137, reason: "OOMKilled" } } }] },
  ],
];

const bad = (name: string, spec: Omit<Stage["spec"], "resourceRef" | "selector">) => ({
  metadata: { name },
  spec: { resourceRef: { kind: "Pod" }, selector: { matchLabels: { app: "bad" } }, ...spec },
});

describe("stages of failures", () => {
  it.each(FAILURES)("%s", async (_title, statusTemplate, expected) => {
    await using simulation = await Simulation.start();
    await simulation.client.create(
      Stage,
      bad("fails", { delay: { durationMilliseconds: 10_000 }, next: { statusTemplate } }),
    );
    await simulation.advance(1);
    await simulation.createDeployment("bad", { progressDeadlineSeconds: 60 });
    await simulation.createDeployment("good");
    await simulation.advance(20);
    expect((await simulation.pods("app=bad"))[0]?.status).toMatchObject(expected);
    expect((await simulation.get(Deployment, "good")).status?.availableReplicas).toBe(1);
    await simulation.advance(60);
    const { status } = await simulation.get(Deployment, "bad");
    expect(status?.availableReplicas ?? 0).toBe(0);
    expect(status?.conditions).toContainEqual(
      expect.objectContaining({ type: "Progressing", status: "False", reason: "ProgressDeadlineExceeded" }),
    );
    expect(simulation.failures).toEqual([]);
  });

  it("an eviction, after which another pod is created", async () => {
    await using simulation = await Simulation.start();
    const statusTemplate = `
phase: Failed
reason: Evicted
message: "The node was low on resource: memory. "
conditions:
- { type: Ready, status: "False", lastTransitionTime: {{ Now | Quote }} }
- { type: DisruptionTarget, status: "True", reason: TerminationByKubelet, lastTransitionTime: {{ Now | Quote }} }
`;
    await simulation.client.create(
      Stage,
      bad("evicts", { delay: { durationMilliseconds: 10_000 }, next: { statusTemplate } }),
    );
    await simulation.createDeployment("bad");
    await simulation.advance(15);
    const pods = await simulation.pods("app=bad");
    expect(pods.map(({ status }) => status?.phase).sort()).toEqual(["Failed", "Pending"]);
    expect(pods.find(({ status }) => status?.phase === "Failed")?.status).toMatchObject({
      reason: "Evicted",
      conditions: expect.arrayContaining([expect.objectContaining({ type: "DisruptionTarget" })]),
    });
    expect(simulation.failures).toEqual([]);
  });

  it("a slow start, as long as the pod itself says", async () => {
    await using simulation = await Simulation.start();
    await simulation.client.create(Stage, {
      ...bad("starts", {
        delay: { durationMilliseconds: 1_000, durationFrom: { jq: { expression: '.metadata.annotations["start"]' } } },
        next: { statusTemplate: `phase: Running\npodIP: 10.1.1.1\n${container(true, "{ running: {} }")}` },
      }),
    });
    await simulation.advance(1);
    const { spec } = await simulation.createDeployment("other");
    const template = { ...spec.template, metadata: { labels: { app: "bad" }, annotations: { start: "2m" } } };
    await simulation.createDeployment("bad", { template });
    await simulation.advance(119);
    expect((await simulation.get(Deployment, "bad")).status?.readyReplicas ?? 0).toBe(0);
    await simulation.advance(5);
    expect((await simulation.get(Deployment, "bad")).status?.readyReplicas).toBe(1);
    expect(simulation.failures).toEqual([]);
  });
});
