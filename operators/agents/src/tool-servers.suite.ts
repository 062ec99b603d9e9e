import { systemClock } from "setpoint/clock";
import { Secret, Service } from "setpoint/kinds/v1";
import { describe, expect, it } from "vitest";
import type { AgentsOptions } from "./agents-app.js";
import type { ToolList } from "./discovery/mcp-session.js";
import { AgentsError } from "./errors.js";
import { Agent } from "./kinds/agent.js";
import { MCPServer } from "./kinds/mcp-server.js";
import { RemoteMCPServer } from "./kinds/remote-mcp-server.js";
import { NS, type Place } from "./place.testing.js";
import { toolList, World } from "./world.testing.js";

const inNs = { namespace: NS };
const URL_A = "http://a.example/mcp";
const status = async (world: World, name: string) => (await world.env.client.get(RemoteMCPServer, name, inNs)).status;

const bound = (target: object, name: string | symbol): unknown => {
  const member = Reflect.get(target, name) as unknown;
  return typeof member === "function" ? member.bind(target) : member;
};

/** The behaviour of tool servers, at any place. */
export function toolServersSuite(place: Place): void {
  const create = (options: Partial<AgentsOptions> = {}): Promise<World> => World.create(options, place);

  describe(`tool servers on ${place.name}`, () => {
    it("an Agent that does not use a hung server is accepted at once, with its row [1]", async () => {
      await using world = await create();
      await world.basics();
      world.answers.set(URL_A, "hang");
      await world.server("hung", URL_A, { timeout: "10m" });
      await world.agent("math");
      expect(await world.accepted(Agent, "math")).toBe("True Reconciled");
      expect(await world.store.agents()).toHaveLength(1);
      expect(await world.accepted(RemoteMCPServer, "hung")).toBe("Unknown Connecting");
    });

    it("twenty hanging servers delay a healthy one by at most half a second [2]", async () => {
      await using world = await create();
      for (let at = 0; at < 20; at++) {
        world.answers.set(`http://hung-${at}/mcp`, "hang");
        await world.server(`hung-${at}`, `http://hung-${at}/mcp`, { timeout: "10m" });
      }
      world.answers.set(URL_A, ["t"]);
      await world.server("healthy", URL_A);
      await world.env.advance("1s");
      expect(await world.accepted(RemoteMCPServer, "healthy")).toBe("True Reconciled");
    });

    it("no database statement is open while servers are asked, and others can write [3]", async () => {
      let open = 0;
      let asked = 0;
      const inner = await place.store(systemClock);
      const store = new Proxy(inner, {
        get: (target, name) => {
          const member = Reflect.get(target, name) as unknown;
          if (typeof member !== "function") return member;
          return (...given: unknown[]) => {
            const result = (member as (...all: unknown[]) => unknown).apply(target, given);
            if (!(result instanceof Promise)) return result;
            open++;
            return result.finally(() => open--);
          };
        },
      });
      await using world = await create({
        store,
        ask: (_target, signal) => {
          asked++;
          return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
        },
      });
      for (let at = 1; at <= 5; at++) {
        await world.server(`hung-${at}`, `http://hung-${at}/mcp`, { timeout: "10h" });
        expect(asked).toBe(at);
        expect(open).toBe(0);
        expect(await world.store.putAgent({ id: `x-${at}`, uid: "u", type: "BYO", config: "{}" })).toBe(true);
      }
    });

    it("the answer for a deleted object changes nothing [5]", async () => {
      let answer: (list: ToolList) => void = () => {};
      await using slow = await create({ ask: () => new Promise((resolve) => (answer = resolve)) });
      await slow.server("a", URL_A);
      await slow.env.client.delete(RemoteMCPServer, "a", inNs);
      await slow.env.idle();
      const before = slow.writes.length;
      answer(toolList("late"));
      await slow.env.advance("1s");
      expect(await slow.store.servers()).toEqual([]);
      expect(await slow.store.tools()).toEqual([]);
      expect(slow.writes.length).toBe(before);
    });

    it("the answer for a recreated object's predecessor is dropped [6]", async () => {
      const answers: ((list: ToolList) => void)[] = [];
      await using world = await create({ ask: () => new Promise((resolve) => answers.push(resolve)) });
      await world.server("a", URL_A);
      await world.env.client.delete(RemoteMCPServer, "a", inNs);
      await world.server("a", "http://b.example/mcp");
      await world.env.idle();
      answers[0]!(toolList("old"));
      await world.env.idle();
      expect(await world.toolNames("a")).toEqual([]);
      answers.at(-1)!(toolList("new"));
      await world.env.idle();
      expect(await world.toolNames("a")).toEqual(["new"]);
      expect((await status(world, "a"))?.discoveredTools).toEqual(toolList("new").tools);
    });

    it("results of an earlier generation never replace those of a later one [7]", async () => {
      const answers: ((list: ToolList) => void)[] = [];
      await using world = await create({ ask: () => new Promise((resolve) => answers.push(resolve)) });
      await world.server("a", URL_A);
      await world.edit(RemoteMCPServer, "a", { spec: { url: "http://b.example/mcp" } });
      answers[1]!(toolList("second"));
      await world.env.idle();
      answers[0]!(toolList("first"));
      await world.env.idle();
      expect(await world.toolNames("a")).toEqual(["second"]);
      expect((await status(world, "a"))?.observedGeneration).toBe(2);
    });

    it("discoveries in progress are aborted with the process, and leave no partial tool set [9]", async () => {
      const signals: AbortSignal[] = [];
      const store = await place.store(systemClock);
      {
        await using world = await create({
          store: new Proxy(store, {
            get: (target, name) => (name === Symbol.asyncDispose ? async () => {} : bound(target, name)),
          }),
          ask: (_target, signal) => {
            signals.push(signal);
            return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
          },
        });
        for (let at = 0; at < 50; at++) {
          const spec = { description: "d", url: `http://s-${at}/mcp`, timeout: "1h" };
          await world.env.client.create(RemoteMCPServer, {
            metadata: { name: `s-${at}`, namespace: NS },
            spec,
          } as never);
        }
        await world.env.advance("5s");
        expect(signals.length).toBe(50);
      }
      expect(signals.every(({ aborted }) => aborted)).toBe(true);
      expect(await store.tools()).toEqual([]);
      await store[Symbol.asyncDispose]();
    });

    it("a server's tools are listed outside of the workers and shown in its order [11]", async () => {
      await using world = await create();
      world.answers.set(URL_A, ["c", "a", "b"]);
      await world.server("tools", URL_A);
      expect(await world.accepted(RemoteMCPServer, "tools")).toBe("True Reconciled");
      expect((await status(world, "tools"))?.discoveredTools?.map(({ name }) => name)).toEqual(["c", "a", "b"]);
      expect(await world.store.tools()).toMatchObject([
        { name: "c", server: "test/tools", groupKind: "RemoteMCPServer.kagent.dev" },
        {},
        {},
      ]);
    });

    it("a server that goes down keeps its last tools, and new ones show within an interval of its return [15] [16]", async () => {
      await using world = await create({ refresh: "1m" });
      world.answers.set(URL_A, ["b", "a"]);
      await world.server("tools", URL_A);
      const [connected] = await world.store.servers();
      world.answers.set(URL_A, new AgentsError("MCP_UNREACHABLE", "a.example: connect ECONNREFUSED"));
      await world.env.advance("67s");
      expect(await world.accepted(RemoteMCPServer, "tools")).toBe("False Unreachable");
      expect((await status(world, "tools"))?.discoveredTools?.map(({ name }) => name)).toEqual(["b", "a"]);
      expect(await world.toolNames("tools")).toEqual(["b", "a"]);
      expect((await world.store.servers())[0]?.lastConnected).toBe(connected?.lastConnected);
      world.answers.set(URL_A, ["a", "c"]);
      await world.env.advance("67s");
      expect(await world.accepted(RemoteMCPServer, "tools")).toBe("True Reconciled");
      expect(await world.toolNames("tools")).toEqual(["a", "c"]);
    });

    it("attempts follow the interval, never two at once, and back off to a limit [17]", async () => {
      const times: number[] = [];
      let running = 0;
      let most = 0;
      await using world: World = await create({
        refresh: "5s",
        ask: async () => {
          times.push(world.env.clock.monotonic());
          most = Math.max(most, ++running);
          await new Promise((resolve) => setImmediate(resolve));
          running--;
          throw new Error("refused");
        },
      });
      await world.server("tools", URL_A);
      await world.env.advance("5m");
      const gaps = times.slice(1).map((time, at) => time - times[at]!);
      expect(Math.min(...gaps)).toBeGreaterThanOrEqual(5_000);
      if (place.isVirtual) expect(Math.max(...gaps)).toBeLessThanOrEqual(5_000 * 8 * 1.1);
      expect(Math.max(...gaps)).toBeGreaterThan(30_000);
      expect(most).toBe(1);
    });

    it("an object's own interval and a new value of the refresh annotation take effect", async () => {
      await using world = await create({ refresh: "1h" });
      world.answers.set(URL_A, ["a"]);
      await world.server("tools", URL_A, {}, { annotations: { "kagent.dev/tool-refresh-interval": "10s" } });
      await world.env.advance("12s");
      if (place.isVirtual) expect(world.asked.length).toBe(2);
      const before = world.asked.length;
      expect(before).toBeGreaterThanOrEqual(2);
      await world.edit(RemoteMCPServer, "tools", { metadata: { annotations: { "kagent.dev/refresh-tools": "now" } } });
      expect(new Set(world.asked.map(({ fingerprint }) => fingerprint)).size).toBe(2);
      if (place.isVirtual) expect(world.asked.length).toBe(before + 1);
    });

    // At 50 times real time, a target that is asked each second is never idle.
    const each = place.isVirtual ? ([["1ms", 11]] as const) : [];
    it.each([["-5s", 1], ["soon", 1], ...each] as const)(
      "an interval of %s does not cause endless requests",
      async (interval, most) => {
        await using world = await create({ refresh: "10h" });
        world.answers.set(URL_A, ["a"]);
        await world.server("tools", URL_A, {}, { annotations: { "kagent.dev/tool-refresh-interval": interval } });
        await world.env.advance("10s");
        if (place.isVirtual) expect(world.asked.length).toBeLessThanOrEqual(most);
        expect(world.asked.length).toBeGreaterThanOrEqual(1);
      },
    );

    it("headers come from literals, Secrets and ConfigMaps; a rotated Secret causes a new request at once [18]", async () => {
      await using world = await create({ refresh: "10h" });
      world.answers.set(URL_A, ["a"]);
      await world.secret("token", { t: "first-token" });
      await world.configMap("settings", { team: "blue" });
      const from = (type: string, name: string, key: string) => ({ type, name, key });
      await world.server("tools", URL_A, {
        headersFrom: [
          { name: "L", value: "literal" },
          { name: "S", valueFrom: from("Secret", "token", "t") },
          { name: "C", valueFrom: from("ConfigMap", "settings", "team") },
        ],
      });
      expect(world.asked[0]?.headers).toEqual({ L: "literal", S: "first-token", C: "blue" });
      await world.basics();
      await world.agent("math", {
        tools: [{ type: "McpServer", mcpServer: { name: "tools", kind: "RemoteMCPServer", apiGroup: "kagent.dev" } }],
      });
      await world.secret("token", { t: "second-token" });
      expect(world.asked[1]?.headers).toMatchObject({ S: "second-token" });
      expect(await world.config("math")).toMatchObject({
        http_tools: [{ params: { headers: { L: "literal", S: "second-token", C: "blue" } } }],
      });
    });

    it.each([
      ["spec.timeout", { timeout: "0s" }, URL_A],
      ["spec.url", {}, "not a url"],
      ["spec.url", {}, "ftp://host/x"],
    ])("a wrong %s is invalid: no request is sent until the specification changes [22]", async (field, spec, url) => {
      await using world = await create();
      world.answers.set(URL_A, ["a"]);
      await world.server("tools", url, spec);
      await world.env.advance("3m");
      expect(await world.accepted(RemoteMCPServer, "tools")).toBe("False InvalidSpec");
      expect((await world.condition(RemoteMCPServer, "tools", "Accepted"))?.message).toContain(field);
      expect(world.asked).toEqual([]);
      expect((await world.store.servers()).map(({ name }) => name)).toEqual(["test/tools"]);
      await world.edit(RemoteMCPServer, "tools", { spec: { url: URL_A, timeout: "5s" } });
      expect(await world.accepted(RemoteMCPServer, "tools")).toBe("True Reconciled");
    });

    it.each([
      ["tls with http", RemoteMCPServer, { description: "d", url: "http://x", tls: {} }, "spec.tls must be unset"],
      [
        "an approval without its tool",
        Agent,
        {
          declarative: {
            systemMessage: "m",
            modelConfig: "m",
            tools: [{ type: "McpServer", mcpServer: { name: "s", toolNames: ["a"], requireApproval: ["b"] } }],
          },
        },
        "spec.declarative.tools[0].mcpServer",
      ],
      [
        "a type without its block",
        Agent,
        { declarative: { systemMessage: "m", modelConfig: "m", tools: [{ type: "Agent", mcpServer: { name: "s" } }] } },
        "spec.declarative.tools[0]",
      ],
    ])("%s is refused by the server with the field's path [23]", async (_, kind, spec, message) => {
      await using world = await create();
      const made = world.env.client.create(kind as never, { metadata: { name: "a", namespace: NS }, spec } as never);
      await expect(made).rejects.toThrow(message);
    });

    it("a missing key is named, never a value, and the server recovers when it appears [24]", async () => {
      await using world = await create();
      world.answers.set(URL_A, ["a"]);
      await world.secret("token", { other: "do-not-tell-this" });
      await world.server("tools", URL_A, {
        headersFrom: [{ name: "S", valueFrom: { type: "Secret", name: "token", key: "t" } }],
      });
      const found = await world.condition(RemoteMCPServer, "tools", "Accepted");
      expect(found).toMatchObject({ reason: "ReferenceMissing", message: 'Secret test/token has no key "t"' });
      await world.secret("token", { t: "a-token" });
      expect(await world.accepted(RemoteMCPServer, "tools")).toBe("True Reconciled");
      await world.env.client.delete(Secret, "token", inNs);
      await world.env.idle();
      expect(await world.accepted(RemoteMCPServer, "tools")).toBe("False ReferenceMissing");
      expect((await status(world, "tools"))?.discoveredTools).toEqual(toolList("a").tools);
    });

    it("a Service with an ambiguous port is invalid, reported once, and discovered once it is fixed [25]", async () => {
      await using world = await create();
      const ports = [
        { name: "a", port: 1 },
        { name: "b", port: 2 },
      ];
      const metadata = { name: "svc", namespace: NS, labels: { "kagent.dev/mcp-service": "true" } };
      await world.env.client.create(Service, { metadata, spec: { ports } } as never);
      await world.env.advance("3m");
      expect(await world.condition(Service, "svc", "kagent.dev/ToolsDiscovered")).toMatchObject({
        status: "False",
        reason: "InvalidSpec",
      });
      expect(world.asked).toEqual([]);
      world.answers.set("http://svc.test:2/mcp", ["a"]);
      const annotate = (value: string, hint = "port") =>
        world.env.client.patch(
          Service,
          "svc",
          { type: "merge", body: { metadata: { annotations: { [`kagent.dev/mcp-service-${hint}`]: value } } } },
          inNs,
        );
      await annotate("abc");
      await world.env.idle();
      expect((await world.condition(Service, "svc", "kagent.dev/ToolsDiscovered"))?.message).toContain(
        "not a valid integer",
      );
      await annotate("no-slash", "path");
      await annotate("2");
      await world.env.advance("3m");
      expect((await world.condition(Service, "svc", "kagent.dev/ToolsDiscovered"))?.message).toContain("make no URL");
      expect(world.asked).toEqual([]);
      await annotate("/mcp", "path");
      await world.env.idle();
      expect(await world.condition(Service, "svc", "kagent.dev/ToolsDiscovered")).toMatchObject({ status: "True" });
      expect((await world.store.tools()).map(({ name, groupKind }) => [name, groupKind])).toEqual([["a", "Service"]]);
      await world.env.client.patch(
        Service,
        "svc",
        { type: "merge", body: { metadata: { labels: { "kagent.dev/mcp-service": null } } } },
        inNs,
      );
      await world.env.idle();
      expect(await world.store.servers()).toEqual([]);
    });

    it("an MCPServer with port 0 is invalid [25]", async () => {
      await using world = await create();
      const spec = { transportType: "stdio", deployment: { image: "i", port: 0 } };
      await world.env.client.create(MCPServer, { metadata: { name: "m", namespace: NS }, spec } as never);
      await world.env.idle();
      expect(await world.accepted(MCPServer, "m")).toBe("False InvalidConfig");
      expect(await world.condition(MCPServer, "m", "ToolsDiscovered")).toMatchObject({ reason: "InvalidConfig" });
      expect(await world.store.servers()).toHaveLength(1);
      expect(await world.store.tools()).toEqual([]);
      expect(await world.deployment("m")).toBeUndefined();
    });

    it("an MCPServer runs as kmcp runs it, and its tools are listed", async () => {
      await using world = await create();
      world.answers.set("http://m.test:3000/mcp", ["a"]);
      const spec = {
        transportType: "stdio",
        deployment: { cmd: "npx", args: ["-y", "server"], env: { B: "2", A: "1" } },
      };
      await world.env.client.create(MCPServer, { metadata: { name: "m", namespace: NS }, spec } as never);
      await world.env.idle();
      await world.setAvailable("m", 1);
      const pod = (await world.deployment("m"))!.spec!.template.spec!;
      expect(pod.containers[0]).toMatchObject({ image: "node:24-alpine3.21", env: [{ name: "A" }, { name: "B" }] });
      expect(pod.initContainers?.[0]?.args).toEqual(["--copy-self", "/adapterbin/agentgateway"]);
      for (const type of ["Accepted", "ResolvedRefs", "Programmed", "Ready", "ToolsDiscovered"]) {
        expect(await world.condition(MCPServer, "m", type)).toMatchObject({ status: "True" });
      }
      const labels = { "kagent.dev/discovery": "disabled" };
      await world.env.client.patch(MCPServer, "m", { type: "merge", body: { metadata: { labels } } }, inNs);
      await world.env.idle();
      expect(await world.store.servers()).toEqual([]);
      expect(await world.condition(MCPServer, "m", "ToolsDiscovered")).toMatchObject({
        status: "False",
        reason: "DiscoveryDisabled",
      });
    });

    it("a foreign Service is a conflict for an MCPServer of its name, until it is deleted", async () => {
      await using world = await create();
      const metadata = { name: "m", namespace: NS };
      await world.env.client.create(Service, { metadata, spec: { ports: [{ port: 1 }] } } as never);
      const spec = { transportType: "stdio", deployment: { cmd: "npx" } };
      await world.env.client.create(MCPServer, { metadata, spec } as never);
      await world.env.idle();
      expect(await world.condition(MCPServer, "m", "Programmed")).toMatchObject({
        status: "False",
        reason: "Conflict",
      });
      expect(await world.condition(MCPServer, "m", "ToolsDiscovered")).toMatchObject({ status: "Unknown" });
      expect((await world.env.client.get(Service, "m", inNs)).spec?.ports?.[0]?.port).toBe(1);
      await world.env.client.delete(Service, "m", inNs);
      await world.env.idle();
      expect(await world.condition(MCPServer, "m", "Programmed")).toMatchObject({ status: "True" });
    });

    it("an MCPServer and a Service whose servers hang show that they wait", async () => {
      await using world = await create();
      world.answers.set("http://m.test:3000/mcp", "hang");
      world.answers.set("http://svc.test:1/mcp", "hang");
      const labels = { "kagent.dev/mcp-service": "true" };
      const spec = { transportType: "stdio", deployment: { cmd: "npx" }, timeout: "10h" };
      await world.env.client.create(MCPServer, { metadata: { name: "m", namespace: NS }, spec } as never);
      const ports = [{ port: 1 }];
      await world.env.client.create(Service, {
        metadata: { name: "svc", namespace: NS, labels },
        spec: { ports },
      } as never);
      await world.env.idle();
      for (const [kind, name, type] of [
        [MCPServer, "m", "ToolsDiscovered"],
        [Service, "svc", "kagent.dev/ToolsDiscovered"],
      ] as const) {
        expect(await world.condition(kind, name, type)).toMatchObject({ status: "Unknown", reason: "Connecting" });
      }
    });

    it("rows of objects that were deleted while down are removed at the start, and no others [40]", async () => {
      await using world = await create();
      await world.basics();
      world.answers.set(URL_A, ["a"]);
      await world.server("lives", URL_A);
      await world.agent("lives");
      await world.store.putServer({
        name: "test/gone",
        groupKind: "RemoteMCPServer.kagent.dev",
        uid: "u",
        description: "",
      });
      await world.store.replaceTools(
        { name: "test/gone", groupKind: "RemoteMCPServer.kagent.dev" },
        "u",
        [{ name: "t", description: "" }],
        "",
      );
      await world.store.putAgent({ id: "test__NS__gone", uid: "u", type: "BYO", config: "{}" });
      await world.start();
      await world.env.idle();
      expect((await world.store.servers()).map(({ name }) => name)).toEqual(["test/lives"]);
      expect((await world.store.agents()).map(({ id }) => id)).toEqual(["test__NS__lives"]);
      expect((await world.store.tools()).map(({ name }) => name)).toEqual(["a"]);
    });

    it("10,000 tools are stored; the status lists what fits and counts the rest", async () => {
      await using world = await create();
      world.answers.set(
        URL_A,
        Array.from({ length: 10_000 }, (_, at) => `tool-${at}-with-a-rather-long-name`),
      );
      await world.server("tools", URL_A);
      await expect.poll(() => world.accepted(RemoteMCPServer, "tools")).toBe("True Reconciled");
      const { discoveredTools = [] } = (await status(world, "tools")) ?? {};
      expect(Buffer.byteLength(JSON.stringify(discoveredTools))).toBeLessThanOrEqual(256 * 1024);
      expect((await world.toolNames("tools")).length).toBe(10_000);
      const message = (await world.condition(RemoteMCPServer, "tools", "Accepted"))?.message;
      expect(message).toContain(`10000 tools discovered; the first ${discoveredTools.length} are listed here`);
    });
  });
}
