/** Tests an operator against a real API server in this process, on virtual time, with injected crashes and faults. */
import { Deployment } from "setpoint/kinds/apps/v1";
import { Service } from "setpoint/kinds/v1";
import { errorAnswer, TestEnvironment } from "setpoint/testing";
import { expect, it } from "vitest";
import { Website, websites } from "./02-owned-children.js";

const here = { namespace: "default" };
const metadata = { ...here, name: "shop" };

it("keeps the deployment as the website says, and does nothing while it is", async () => {
  await using env = await TestEnvironment.create({ kinds: [Website], loops: [websites] });
  await env.client.create(Website, { metadata, spec: { image: "nginx" } });
  await env.idle();
  const made = await env.client.get(Deployment, "shop", here);
  expect(made.spec?.template.spec?.containers[0]?.image).toBe("nginx");

  const before = env.operator.requests.length;
  await env.advance("1h");
  expect(env.operator.requests.length).toBe(before);
});

it("comes to the same end after a crash at any of its writes", async () => {
  for (let write = 1; ; write++) {
    await using env = await TestEnvironment.create({ kinds: [Website], loops: [websites], seed: write });
    const first = env.operator;
    first.crashAfterWrite(write);
    await env.client.create(Website, { metadata, spec: { image: "nginx", port: 80 } });
    await env.idle();
    if (first.hasCrashed) await env.start();
    expect((await env.client.get(Website, "shop", here)).status).toEqual({ ready: 0 });
    expect((await env.client.get(Service, "shop", here)).spec?.ports?.[0]?.port).toBe(80);
    if (!first.hasCrashed) break;
  }
}, 60_000);

it("tries again after a conflict", async () => {
  await using env = await TestEnvironment.create({ kinds: [Website], loops: [websites] });
  let isFirst = true;
  using _fault = env.fault(({ method }) => {
    if (method !== "PATCH" || !isFirst) return undefined;
    isFirst = false;
    return errorAnswer(409, "Conflict");
  });
  await env.client.create(Website, { metadata, spec: { image: "nginx" } });
  await env.advance("1s");
  expect(await env.client.find(Deployment, "shop", here)).toBeDefined();
});
