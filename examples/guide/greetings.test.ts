import { TestEnvironment } from "setpoint/testing";
import { expect, it } from "vitest";
import { Greeting, greetings } from "./greetings.js";

const here = { namespace: "default" };

it("greets, and is at rest afterwards", async () => {
  await using env = await TestEnvironment.create({ kinds: [Greeting], loops: [greetings] });
  await env.client.create(Greeting, { metadata: { ...here, name: "hello" }, spec: { name: "Ann" } });
  await env.idle();
  expect((await env.client.get(Greeting, "hello", here)).status).toEqual({ text: "Hello, Ann!" });

  const before = env.operator.requests.length;
  await env.advance("1h");
  expect(env.operator.requests.length).toBe(before);
});
