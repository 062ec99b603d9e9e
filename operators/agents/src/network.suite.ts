import { createServer } from "node:net";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";
import type { AgentsOptions } from "./agents-app.js";
import { listen, startSse, startStreamable } from "./discovery/mcp-servers.testing.js";
import { listTools } from "./discovery/mcp-session.js";
import { RemoteMCPServer } from "./kinds/remote-mcp-server.js";
import { NS, type Place } from "./place.testing.js";
import { World } from "./world.testing.js";

const inNs = { namespace: NS };
const TIMEOUT = { timeout: "20m" };

/** The heap usage after a garbage collection. */
function keptMegabytes(): number {
  setFlagsFromString("--expose-gc");
  (runInNewContext("gc") as () => void)();
  return process.memoryUsage().heapUsed / 1e6;
}

/** The operator with real MCP servers, at a place in real time. */
export function networkSuite(place: Place): void {
  const create = (options: Partial<AgentsOptions> = {}): Promise<World> =>
    World.create({ ask: listTools, refresh: "1h", ...options }, place);
  const reason = async (world: World, name: string) =>
    (await world.condition(RemoteMCPServer, name, "Accepted"))?.reason;

  describe(`real MCP servers on ${place.name}`, () => {
    it.each([
      ["Streamable HTTP", "STREAMABLE_HTTP", startStreamable],
      ["HTTP with SSE", "SSE", startSse],
    ] as const)("%s: announced changes of tools show without waiting for the interval", async (_, protocol, start) => {
      let names = ["a", "b"];
      await using server = await start({ tools: () => names.map((name) => ({ name })), announces: true });
      await using world = await create();
      await world.server("tools", server.url, { protocol, ...TIMEOUT });
      await expect.poll(() => reason(world, "tools")).toBe("Reconciled");
      expect(await world.toolNames("tools")).toEqual(["a", "b"]);
      await expect.poll(() => server.sessions()).toBe(1);
      names = ["b", "c"];
      await server.tellChanged();
      await expect.poll(() => world.toolNames("tools")).toEqual(["b", "c"]);
      await expect
        .poll(async () => (await world.env.client.get(RemoteMCPServer, "tools", inNs)).status?.discoveredTools)
        .toEqual([
          { name: "b", description: "" },
          { name: "c", description: "" },
        ]);
      await world.env.client.delete(RemoteMCPServer, "tools", inNs);
      await expect.poll(() => server.sessions()).toBe(0);
      await expect.poll(() => world.store.servers()).toEqual([]);
    });

    it("a server of 10,000 tools in pages is listed completely, a slow one is awaited, a flapping one keeps its tools", async () => {
      const names = Array.from({ length: 10_000 }, (_, at) => `tool-${at}-with-a-rather-long-name`);
      await using many = await startStreamable({ tools: () => names.map((name) => ({ name })), pageSize: 2_500 });
      await using slow = await startStreamable({ tools: () => [{ name: "late" }], delayMs: 700 });
      let isUp = true;
      await using flapping = await startStreamable({ tools: () => [{ name: "now" }], isUp: () => isUp });
      await using world = await create();
      for (const [name, { url }] of Object.entries({ many, slow, flapping })) await world.server(name, url, TIMEOUT);
      for (const name of ["many", "slow", "flapping"]) {
        await expect.poll(() => reason(world, name), { timeout: 60_000 }).toBe("Reconciled");
      }
      const { discoveredTools = [] } = (await world.env.client.get(RemoteMCPServer, "many", inNs)).status ?? {};
      expect(Buffer.byteLength(JSON.stringify(discoveredTools))).toBeLessThanOrEqual(256 * 1024);
      expect((await world.condition(RemoteMCPServer, "many", "Accepted"))?.message).toContain(
        `10000 tools discovered; the first ${discoveredTools.length} are listed here`,
      );
      expect(await world.toolNames("many")).toEqual(names);
      expect(await world.toolNames("slow")).toEqual(["late"]);
      for (const state of [false, true, false]) {
        isUp = state;
        const annotations = { "kagent.dev/refresh-tools": crypto.randomUUID() };
        await world.edit(RemoteMCPServer, "flapping", { metadata: { annotations } });
        await expect.poll(() => reason(world, "flapping")).toBe(state ? "Reconciled" : "HTTPError");
        expect(await world.toolNames("flapping")).toEqual(["now"]);
      }
      for (const server of [many, slow, flapping]) await expect.poll(() => server.sessions()).toBe(0);
    });

    it("each kind of failure has its own reason, and memory stays bounded with 10 MB of tools [26]", async () => {
      const answering = (status: number, type: string, body: string) =>
        listen((request, response) => {
          request.resume();
          response.writeHead(status, { "content-type": type }).end(body);
        });
      await using unauthorized = await answering(401, "text/plain", "");
      await using missing = await answering(404, "text/plain", "");
      await using html = await answering(200, "text/html", "<p>");
      await using malformed = await answering(200, "application/json", "{");
      await using large = await startStreamable({
        tools: () => Array.from({ length: 100 }, (_, at) => ({ name: `t-${at}`, description: "x".repeat(100_000) })),
      });
      await using twice = await startStreamable({ tools: () => ["a", "b", "a"].map((name) => ({ name })) });
      const gone = await startStreamable({ tools: () => [] });
      await gone[Symbol.asyncDispose]();
      const hung = createServer(() => {});
      await new Promise<void>((resolve) => hung.listen(0, "127.0.0.1", resolve));
      await using world = await create();
      const urls = { unauthorized, missing, html, malformed, large, twice, gone };
      for (const [name, { url }] of Object.entries(urls)) await world.server(name, url, TIMEOUT);
      await world.server("hung", `http://127.0.0.1:${(hung.address() as { port: number }).port}/mcp`, {
        timeout: "10s",
      });
      const expected = {
        unauthorized: "Unauthorized",
        missing: "HTTPError",
        html: "NotMCP",
        malformed: "ProtocolError",
        large: "TooLarge",
        twice: "Reconciled",
        gone: "Unreachable",
        hung: "Timeout",
      };
      for (const [name, why] of Object.entries(expected)) await expect.poll(() => reason(world, name)).toBe(why);
      hung.close();
      expect(await world.toolNames("twice")).toEqual(["a", "b"]);
      expect(await world.toolNames("large")).toEqual([]);
      expect(large.sessions() + twice.sessions()).toBe(0);
      const before = keptMegabytes();
      for (let at = 0; at < 2; at++) {
        const annotations = { "kagent.dev/refresh-tools": String(at) };
        await world.edit(RemoteMCPServer, "large", { metadata: { annotations } });
        await expect.poll(() => large.sessions()).toBe(0);
      }
      // Twice 10 MB were read, and neither was retained.
      expect(keptMegabytes() - before).toBeLessThan(10);
    });
  });
}
