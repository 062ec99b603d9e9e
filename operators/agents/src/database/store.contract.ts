import { beforeEach, describe, expect, it } from "vitest";
import type { Store, Tool } from "./store.js";

const SERVER = { name: "ns/s", groupKind: "RemoteMCPServer.kagent.dev" };
const tools = (...names: readonly string[]): readonly Tool[] =>
  names.map((name) => ({ name, description: `does ${name}` }));

/** The contract of every database. `open` returns the same database each time; `reset` empties it. */
export function storeContract(name: string, open: () => Promise<Store>, reset: () => Promise<void>): void {
  describe(`the store on ${name}`, () => {
    beforeEach(reset);

    it("writes changes, and returns whether there were any", async () => {
      await using store = await open();
      const agent = { id: "a", uid: "1", type: "BYO", config: "{}" };
      expect(await store.putAgent(agent)).toBe(true);
      expect(await store.putAgent(agent)).toBe(false);
      expect(await store.putAgent({ ...agent, config: '{"a":1}' })).toBe(true);
      expect(await store.agents()).toEqual([{ ...agent, config: '{"a":1}' }]);
      expect(await store.deleteAgent("a", "2")).toBe(false);
      expect(await store.deleteAgent("a", "1")).toBe(true);
      expect(await store.agents()).toEqual([]);
    });

    it("replaces tools as a whole, in order", async () => {
      await using store = await open();
      await store.putServer({ ...SERVER, uid: "1", description: "d" });
      expect(await store.replaceTools(SERVER, "1", tools("c", "a"), "t1")).toBe(true);
      expect(await store.replaceTools(SERVER, "1", tools("c", "a"), "t2")).toBe(false);
      expect(await store.replaceTools(SERVER, "1", tools("b", "c"), "t3")).toBe(true);
      expect((await store.tools(SERVER)).map((tool) => tool.name)).toEqual(["b", "c"]);
      expect(await store.servers()).toEqual([{ ...SERVER, uid: "1", description: "d", lastConnected: "t3" }]);
    });

    it("keeps one of two sets that are stored at once, never a mix [4]", async () => {
      await using one = await open();
      await using other = await open();
      await one.putServer({ ...SERVER, uid: "1", description: "d" });
      for (let round = 0; round < 20; round++) {
        await Promise.all([
          one.replaceTools(SERVER, "1", tools("a", "b", `r${round}`), "t"),
          other.replaceTools(SERVER, "1", tools("c"), "t"),
        ]);
        const names = (await one.tools(SERVER)).map((tool) => tool.name).join();
        expect(["c", `a,b,r${round}`]).toContain(names);
      }
    });

    it("accepts nothing for an object that was deleted or recreated [5] [6]", async () => {
      await using store = await open();
      expect(await store.replaceTools(SERVER, "1", tools("a"), "t")).toBe(false);
      await store.putServer({ ...SERVER, uid: "1", description: "d" });
      await store.replaceTools(SERVER, "1", tools("a"), "t");
      await store.putServer({ ...SERVER, uid: "2", description: "d" });
      expect(await store.tools()).toEqual([]);
      expect(await store.replaceTools(SERVER, "1", tools("late"), "t")).toBe(false);
      expect(await store.deleteServer(SERVER, "1")).toBe(false);
      expect(await store.tools()).toEqual([]);
      expect(await store.deleteServer(SERVER, "2")).toBe(true);
      expect(await store.servers()).toEqual([]);
    });

    it("holds 10,000 tools", async () => {
      await using store = await open();
      await store.putServer({ ...SERVER, uid: "1", description: "d" });
      await store.replaceTools(SERVER, "1", tools(...Array.from({ length: 10_000 }, (_, at) => `t${at}`)), "t");
      expect((await store.tools(SERVER)).at(-1)?.name).toBe("t9999");
    });
  });
}
