/** The examples of the page on testing besides example 12: faults, cuts, seeds and forks. */
import { Deployment } from "setpoint/kinds/apps/v1";
import { errorAnswer, TestEnvironment } from "setpoint/testing";
import { expect, it } from "vitest";
import { Website, websites } from "./02-owned-children.js";

const here = { namespace: "default" };
const metadata = { ...here, name: "shop" };

it("applies the deployment although the server refuses it at first", async () => {
  await using env = await TestEnvironment.create({ kinds: [Website], loops: [websites] });
  const refusing = env.fault(({ method, path }) =>
    method === "PATCH" && path.includes("/deployments/") ? errorAnswer(403, "Forbidden") : undefined,
  );
  await env.client.create(Website, { metadata, spec: { image: "nginx" } });
  await env.advance("1m");
  expect(await env.client.find(Deployment, "shop", here)).toBeUndefined();
  refusing[Symbol.dispose]();
  await env.advance("5m");
  expect(await env.client.find(Deployment, "shop", here)).toBeDefined();
});

it("catches up after it was cut off", async () => {
  await using env = await TestEnvironment.create({ kinds: [Website], loops: [websites] });
  await env.client.create(Website, { metadata, spec: { image: "nginx" } });
  await env.idle();
  const cut = env.operator.cut();
  await env.client.delete(Deployment, "shop", here);
  await env.advance("5m");
  cut[Symbol.dispose]();
  await env.advance("2m");
  expect(await env.client.find(Deployment, "shop", here)).toBeDefined();
});

it("sends the same requests when it is run again from its seed", async () => {
  const seed = 42;
  const play = async () => {
    await using env = await TestEnvironment.create({ kinds: [Website], loops: [websites], seed });
    await env.client.create(Website, { metadata, spec: { image: "nginx" } });
    await env.advance("1m");
    return env.operator.requests;
  };
  expect(await play()).toEqual(await play());
});

it("goes on from one state twice, in two ways", async () => {
  await using env = await TestEnvironment.create({ kinds: [Website], loops: [websites], simulate: true });
  await env.client.create(Website, { metadata, spec: { image: "nginx" } });
  await env.advance("10s");

  await using fork = await env.fork();
  await fork.client.delete(Website, "shop", here);
  await fork.advance("1m");
  expect(await fork.client.find(Deployment, "shop", here)).toBeUndefined();

  expect(env.clock.now()).toBeLessThan(fork.clock.now());
  expect((await env.client.get(Website, "shop", here)).status).toEqual({ ready: 1 });
});
