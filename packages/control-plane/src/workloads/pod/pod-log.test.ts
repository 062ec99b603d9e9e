import { Pod } from "setpoint/kinds/v1";
import { describe, expect, it } from "vitest";
import { Simulation } from "../simulation.testing.js";

async function collected(log: AsyncIterable<string>, into: string[] = []): Promise<string> {
  for await (const chunk of log) into.push(chunk);
  return into.join("");
}

describe("the log of a simulated pod", () => {
  it("shows its life, with timestamps and in part on request", async () => {
    await using simulation = await Simulation.start();
    await simulation.createPod("a", { "ready-after": "5s" });
    await simulation.advance(10);
    const log = (more = {}) => collected(simulation.client.logs("a", { namespace: "default", ...more }));
    expect(await log()).toBe("main: started, image nginx (simulated)\nmain: ready\n");
    expect(await log({ tailLines: 1, timestamps: true })).toMatch(/^2026-01-01T00:00:0\dZ main: ready\n$/);
  });

  it("continues while it is followed, until the pod ends", async () => {
    await using simulation = await Simulation.start();
    await simulation.createPod("a", { "run-for": "10s", "ready-after": "2s" }, { restartPolicy: "Never" });
    await simulation.advance(2);
    const chunks: string[] = [];
    const following = collected(simulation.client.logs("a", { namespace: "default", follow: true }), chunks);
    await simulation.advance(5);
    expect(chunks.join("")).toBe("main: started, image nginx (simulated)\nmain: ready\n");
    await simulation.advance(20);
    expect(await following).toContain("main: ended with exit code 0, Completed\n");
  });

  it("is refused if there is none yet, and shows the previous run", async () => {
    await using simulation = await Simulation.start();
    await simulation.createPod("a", { failure: "crash-loop" });
    const log = (more = {}) => collected(simulation.client.logs("a", { namespace: "default", ...more }));
    await simulation.advance(0);
    await expect(log()).rejects.toThrow('container "main" in pod "a" is waiting to start: ContainerCreating');
    await simulation.advance(20);
    expect(await log({ previous: true })).toContain("main: ended with exit code 1, Error");
    await expect(log({ container: "b" })).rejects.toThrow("container b is not valid for pod a");
    expect(await simulation.get(Pod, "a")).toBeDefined();
  });
});
