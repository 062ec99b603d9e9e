import { describe, expect, it } from "vitest";
import { watcher } from "../../controller/watcher.js";
import { Website } from "../../controller/world.testing.js";
import { eventually, here, type IntegrationWorld, settled } from "./integration-world.testing.js";

const finalizer = "example.com/audit";

export function watcherSuite(given: () => IntegrationWorld): void {
  describe("watchers", () => {
    it("get each event, in order", async () => {
      const world = given();
      const steps: string[] = [];
      await world.run([
        watcher(Website, {
          add: ({ spec }) => void steps.push(`add ${spec.image}`),
          update: ({ spec }, old) => void steps.push(`${old.spec.image} to ${spec.image}`),
          delete: ({ spec }) => void steps.push(`delete ${spec.image}`),
        }),
      ]);
      await world.createSite("a", "one");
      await eventually(() => expect(steps).toEqual(["add one"]));
      await world.patchSite("a", { spec: { image: "two" } });
      await world.patchSite("a", { spec: { image: "three" } });
      await world.client.delete(Website, "a", here);
      const expected = ["add one", "one to two", "two to three", "delete three"];
      await eventually(() => expect(steps).toEqual(expected));
    });

    it("with a finalizer miss no delete, and distinguish a restart from a new object", async () => {
      const world = given();
      const steps: string[] = [];
      const audit = () =>
        watcher(Website, {
          finalizer,
          add: ({ metadata }) => void steps.push(`add with ${metadata.finalizers}`),
          sync: () => void steps.push("sync"),
          delete: () => void steps.push("delete"),
        });
      const first = await world.run([audit()]);
      await world.createSite("a");
      await eventually(async () => expect((await world.site("a"))?.metadata.finalizers).toEqual([finalizer]));
      await first.stop();
      const second = await world.run([audit()]);
      await eventually(() => expect(steps).toEqual([`add with ${finalizer}-wip`, "sync"]));
      await second.stop();
      await world.client.delete(Website, "a", here);
      await world.run([audit()]);
      await eventually(async () => expect(await world.site("a")).toBeUndefined());
      expect(steps).toEqual([`add with ${finalizer}-wip`, "sync", "delete"]);
    });

    it("are added and removed while their manager runs, each with its own retries", async () => {
      const world = given();
      const steps: string[] = [];
      const named = (name: string, failures: number) =>
        watcher(Website, {
          name,
          retry: { initial: "50ms" },
          add({ metadata }) {
            steps.push(`${name} ${metadata.name}`);
            if (failures-- > 0) throw new Error("not yet");
          },
        });
      const [one, two] = [named("one", 1), named("two", 0)];
      const manager = await world.run([one]);
      await world.createSite("a");
      await eventually(() => expect(steps).toEqual(["one a", "one a"]));
      await manager.add(two);
      await eventually(() => expect(steps).toEqual(["one a", "one a", "two a"]));
      await manager.remove(one);
      await world.createSite("b");
      await eventually(() => expect(steps).toContain("two b"));
      await settled();
      expect(steps).toEqual(["one a", "one a", "two a", "two b"]);
    });
  });
}
