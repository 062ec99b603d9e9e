/** What the page on testing shows, beside example 12: crashes, faults, cuts and seeds. */
import { Deployment } from "setpoint/kinds/apps/v1";
import { Service } from "setpoint/kinds/v1";
import { errorAnswer, TestEnvironment } from "setpoint/testing";
import { expect, it } from "vitest";
import { Website, websites } from "./02-owned-children.js";

const metadata = { namespace: "default", name: "shop" };

it("comes to the same end after a crash at any of its writes", async () => {
  for (let write = 1; ; write++) {
    await using env = await TestEnvironment.create({ kinds: [Website], workloads: [websites], seed: write });
    const first = env.operator;
    first.crashAfterWrite(write);
    await env.client.create(Website, { metadata, spec: { image: "nginx", port: 80 } });
    await env.idle();
    if (first.hasCrashed) await env.start();
    expect((await env.client.get(Website, "shop", metadata)).status).toEqual({ ready: 0 });
    expect((await env.client.get(Service, "shop", metadata)).spec?.ports?.[0]?.port).toBe(80);
    if (!first.hasCrashed) break;
  }
}, 60_000);

it("applies the deployment although the server refuses it at first", async () => {
  await using env = await TestEnvironment.create({ kinds: [Website], workloads: [websites] });
  const refusing = env.fault(({ method, path }) =>
    method === "PATCH" && path.includes("/deployments/") ? errorAnswer(403, "Forbidden") : undefined,
  );
  await env.client.create(Website, { metadata, spec: { image: "nginx" } });
  await env.advance("1m");
  expect(await env.client.find(Deployment, "shop", metadata)).toBeUndefined();
  refusing[Symbol.dispose]();
  await env.advance("5m");
  expect(await env.client.find(Deployment, "shop", metadata)).toBeDefined();
});

it("catches up after it was cut off", async () => {
  await using env = await TestEnvironment.create({ kinds: [Website], workloads: [websites] });
  await env.client.create(Website, { metadata, spec: { image: "nginx" } });
  await env.idle();
  const cut = env.operator.cut();
  await env.client.delete(Deployment, "shop", metadata);
  await env.advance("5m");
  cut[Symbol.dispose]();
  await env.advance("2m");
  expect(await env.client.find(Deployment, "shop", metadata)).toBeDefined();
});

it("sends the same requests when it is run again from its seed", async () => {
  const seed = 42;
  const play = async () => {
    await using env = await TestEnvironment.create({ kinds: [Website], workloads: [websites], seed });
    await env.client.create(Website, { metadata, spec: { image: "nginx" } });
    await env.advance("1m");
    return env.operator.requests;
  };
  expect(await play()).toEqual(await play());
});

it("goes on from one state twice, in two ways", async () => {
  await using env = await TestEnvironment.create({ kinds: [Website], workloads: [websites], simulate: true });
  await env.client.create(Website, { metadata, spec: { image: "nginx" } });
  await env.advance("10s");

  await using fork = await env.fork();
  await fork.client.delete(Website, "shop", metadata);
  await fork.advance("1m");
  expect(await fork.client.find(Deployment, "shop", metadata)).toBeUndefined();

  expect(env.clock.now()).toBeLessThan(fork.clock.now());
  expect((await env.client.get(Website, "shop", metadata)).status).toEqual({ ready: 1 });
});
