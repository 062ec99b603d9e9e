import { TestEnvironment } from "setpoint/testing";
import { describe, expect, it } from "vitest";
import { scenes } from "./scenes.testing.js";

describe("an example that is started again", () => {
  it.each(Object.keys(scenes))("%s finds everything as it left it, and writes nothing", async (name) => {
    const { options, story } = scenes[name]!();
    await using env = await TestEnvironment.create(options);
    for (const step of story) {
      await step(env);
      await env.advance("30s");
    }
    await env.operator[Symbol.asyncDispose]();
    const again = await env.start();
    await env.advance("10m");
    expect(again.writes).toEqual([]);
  });
});
