import { describe, expect, it } from "vitest";
import { controller } from "../controller/controller.js";
import { Website } from "../controller/world.testing.js";
import { ConfigMap } from "../kinds/builtin/v1.js";
import { errorAnswer } from "./error-answer.js";
import { create, createSite, here, isWrite, setImage, shown } from "./faults.testing.js";

/** Each verb with which a reconcile may write, from creation to deletion. */
const allVerbs = controller(Website, {
  owns: [ConfigMap],
  retry: { initial: "100ms", max: "1m", jitter: 0 },
  async reconcile({ metadata: { name }, spec: { image } }, ctx) {
    await ctx.apply(ConfigMap, { metadata: { name }, data: { image } });
    const once = `${name}-once`;
    const made = (await ctx.find(ConfigMap, once)) ?? (await ctx.create(ConfigMap, { metadata: { name: once } }));
    if (made.data?.image !== image) {
      await ctx.patch(ConfigMap, once, { type: "merge", body: { data: { image } } });
    }
    ctx.status({ phase: image });
  },
  finalize: ({ metadata: { name } }, ctx) => ctx.delete(ConfigMap, `${name}-once`),
});
const WRITES_OF_ALL_VERBS = [
  ...["finalizer", "apply", "create", "patch", "status"],
  ...["apply", "patch", "status"],
  ...["delete", "finalizer"],
].length;

describe("an operator that meets conflicts", () => {
  it("reaches its end state although each of its writes gets a conflict at first", async () => {
    await using env = await create();
    const refused = new Set<string>();
    using _fault = env.fault((request) => {
      const write = `${request.method} ${request.path.split("?")[0]}`;
      if (!isWrite(request) || refused.has(write)) return undefined;
      refused.add(write);
      return errorAnswer(409, "Conflict");
    });
    await createSite(env, "a");
    await env.advance("5s");
    expect([...refused].map((write) => write.replace(/.*\/(\w+\/a)/, "$1")).sort()).toEqual([
      "configmaps/a",
      "websites/a",
      "websites/a/status",
    ]);
    expect(await shown(env, "a")).toEqual(["nginx", "nginx"]);
    expect((await env.client.get(Website, "a", here)).metadata.finalizers).toEqual(["setpoint.dev/websites"]);
  });

  it("passes through the same states whichever of its writes gets a conflict", async () => {
    const play = async (conflictAt: number): Promise<{ readonly writes: number; readonly states: unknown }> => {
      await using env = await create({ loops: [allVerbs] });
      let writes = 0;
      using _fault = env.fault((request) => {
        if (!isWrite(request) || /\/events|reviews/.test(request.path)) return undefined;
        return ++writes === conflictAt ? errorAnswer(409, "Conflict") : undefined;
      });
      const states: unknown[] = [];
      const story = [
        () => createSite(env, "a"),
        () => setImage(env, "a", "caddy"),
        () => env.client.delete(Website, "a", here),
      ];
      for (const step of story) {
        await step();
        await env.advance("5s");
        const once = await env.client.find(ConfigMap, "a-once", here);
        const site = await env.client.find(Website, "a", here);
        states.push([...(await shown(env, "a")), once?.data?.image, site?.metadata.finalizers]);
      }
      return { writes, states };
    };
    const undisturbed = await play(0);
    expect(undisturbed.states).toEqual([
      ["nginx", "nginx", "nginx", ["setpoint.dev/websites"]],
      ["caddy", "caddy", "caddy", ["setpoint.dev/websites"]],
      [undefined, undefined, undefined, undefined],
    ]);
    expect(undisturbed.writes).toBe(WRITES_OF_ALL_VERBS);
    for (let conflictAt = 1; conflictAt <= WRITES_OF_ALL_VERBS; conflictAt++) {
      const disturbed = await play(conflictAt);
      expect(disturbed.states, `conflict at write ${conflictAt}`).toEqual(undisturbed.states);
      expect(disturbed.writes).toBeGreaterThan(WRITES_OF_ALL_VERBS);
    }
  });
});
