import { describe, expect, it } from "vitest";
import { controller } from "../../controller/controller.js";
import {
  RECONCILE_NOW_ANNOTATION as NOW,
  PAUSED_ANNOTATION as PAUSED,
  STEP_ANNOTATION as STEP,
} from "../../controller/run/directives.js";
import { Website } from "../../controller/world.testing.js";
import { ConfigMap, Event } from "../../kinds/builtin/v1.js";
import { eventually, here, type IntegrationWorld, settled } from "./integration-world.testing.js";

export function controllerSuite(given: () => IntegrationWorld): void {
  describe("controllers", () => {
    it("run again when an object that they read changes or appears", async () => {
      const world = given();
      await world.run([
        controller(Website, {
          uses: [ConfigMap],
          async reconcile(_, ctx) {
            ctx.status({ phase: (await ctx.find(ConfigMap, "settings"))?.data?.phase ?? "none" });
          },
        }),
      ]);
      const phase = (expected: string): Promise<void> =>
        eventually(async () => expect((await world.site("a"))?.status?.phase).toBe(expected));
      await world.createSite("a");
      await phase("none");
      await world.client.create(ConfigMap, { metadata: { ...here, name: "settings" }, data: { phase: "one" } });
      await phase("one");
      await world.client.patch(ConfigMap, "settings", { type: "merge", body: { data: { phase: "two" } } }, here);
      await phase("two");
    });

    it("set conditions with their generation, and record events", async () => {
      const world = given();
      await world.run([
        controller(Website, {
          reconcile(_, ctx) {
            ctx.condition({ type: "Ready", status: "True", reason: "Done" });
            ctx.event("Normal", "Done", "it is done");
          },
        }),
      ]);
      await world.createSite("events");
      await eventually(async () => {
        const { status, metadata } = (await world.site("events"))!;
        expect(status?.conditions?.[0]).toMatchObject({ type: "Ready", observedGeneration: metadata.generation });
      });
      await eventually(async () => {
        const { items } = await world.client.list(Event, { ...here, fieldSelector: "involvedObject.name=events" });
        expect(items.map(({ reason }) => reason)).toEqual(["Done"]);
      });
    });

    it("merge their status after a conflict", async () => {
      const world = given();
      let isFirst = true;
      await world.run([
        controller(Website, {
          async reconcile(_, ctx) {
            ctx.status({ ready: 1 });
            if (!isFirst) return;
            isFirst = false;
            const body = { status: { phase: "FromElsewhere" } };
            await world.client.patch(Website, "a", { type: "merge", body }, { ...here, subresource: "status" });
          },
        }),
      ]);
      await world.createSite("a");
      const merged = { ready: 1, phase: "FromElsewhere" };
      await eventually(async () => expect((await world.site("a"))?.status).toEqual(merged));
    });

    it("keep their finalizer from before the first reconcile until finalize is done", async () => {
      const world = given();
      const seen: string[] = [];
      await world.run([
        controller(Website, {
          reconcile: ({ metadata }) => void seen.push(`reconcile with ${metadata.finalizers}`),
          finalize: () => void seen.push("finalize"),
        }),
      ]);
      await world.createSite("a");
      await eventually(() => expect(seen).toEqual(["reconcile with setpoint.dev/websites"]));
      await world.client.delete(Website, "a", here);
      await eventually(async () => expect(await world.site("a")).toBeUndefined());
      expect(seen).toEqual(["reconcile with setpoint.dev/websites", "finalize"]);
    });

    it("finalize objects that were deleted while they were down", async () => {
      const world = given();
      const finalized: string[] = [];
      const declared = () =>
        controller(Website, { reconcile: () => {}, finalize: ({ metadata }) => void finalized.push(metadata.name) });
      const first = await world.run([declared()]);
      await world.createSite("a");
      await eventually(async () =>
        expect((await world.site("a"))?.metadata.finalizers).toEqual(["setpoint.dev/websites"]),
      );
      await first.stop();
      await world.client.delete(Website, "a", here);
      expect((await world.site("a"))?.metadata.deletionTimestamp).toBeDefined();
      await world.run([declared()]);
      await eventually(async () => expect(await world.site("a")).toBeUndefined());
      expect(finalized).toEqual(["a"]);
    });

    it("are paused, stepped, resumed and triggered by annotation", async () => {
      const world = given();
      const seen: string[] = [];
      const when = { changed: ["spec"] } as const;
      await world.run([controller(Website, { when, reconcile: ({ spec }) => void seen.push(spec.image) })]);
      const annotate = (annotations: Record<string, string | null>) =>
        world.patchSite("a", { metadata: { annotations } });
      await world.createSite("a", "1", { [PAUSED]: "true" });
      await settled();
      expect(seen).toEqual([]);
      await annotate({ [STEP]: "first" });
      await eventually(() => expect(seen).toEqual(["1"]));
      await world.patchSite("a", { spec: { image: "2" } });
      await settled();
      expect(seen).toEqual(["1"]);
      await annotate({ [PAUSED]: null });
      await eventually(() => expect(seen).toEqual(["1", "2"]));
      await annotate({ unrelated: "yes" });
      await settled();
      expect(seen).toEqual(["1", "2"]);
      await annotate({ [NOW]: "please" });
      await eventually(() => expect(seen).toEqual(["1", "2", "2"]));
    });
  });
}
