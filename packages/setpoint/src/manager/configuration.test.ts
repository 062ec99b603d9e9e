import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { app } from "../app/app.js";
import { provideApp } from "../app/provider.js";
import { readConfiguration } from "./configuration.js";
import { parseAddress } from "./settings.js";

const folder = mkdtempSync(join(tmpdir(), "setpoint-configuration-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function file(name: string, content: string): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

const COMPLETE = `
name: shop
logLevel: warn
health: ":8081"
metrics: 127.0.0.1:9090
grace: 10s
leaderElection: { enabled: true, lease: 30s, renew: 20s }
webhooks: { service: shop/hooks, port: 9443 }
apps:
  shop: { region: eu }
`;

describe("the configuration of a manager", () => {
  it("comes from a file, YAML or JSON", async () => {
    const { manager, logLevel, apps } = await readConfiguration({ file: file("complete.yaml", COMPLETE) });
    expect(manager).toEqual({
      name: "shop",
      health: { host: "", port: 8081 },
      metrics: { host: "127.0.0.1", port: 9090 },
      grace: 10_000,
      leaderElection: { lease: 30_000, renew: 20_000 },
      webhooks: { service: { namespace: "shop", name: "hooks" }, port: 9443 },
    });
    expect([logLevel, apps]).toEqual(["warn", { shop: { region: "eu" } }]);
    const json = await readConfiguration({ file: file("a.json", '{ "profiling": true }') });
    expect(json.manager).toEqual({ profiling: true });
  });

  it("prefers a flag to the environment, and that to the file", async () => {
    const path = file("layers.yaml", "name: file\nmetrics: ':1'\nhealth: ':1'\n");
    const env = { SETPOINT_CONFIG: path, SETPOINT_NAME: "variable", SETPOINT_METRICS: ":2" };
    const args = ["--name=flag", "--leader-elect", "--leader-election-id", "lease"];
    const { manager } = await readConfiguration({ args, env });
    expect(manager).toMatchObject({ name: "flag", metrics: { port: 2 }, health: { port: 1 } });
    expect(manager.leaderElection).toEqual({ name: "lease" });
    const off = await readConfiguration({ args: ["--leader-elect=false", "--metrics-bind-address", "0"], env });
    expect(off.manager.leaderElection).toBeUndefined();
    const codeAsks = await readConfiguration({ args: ["--leader-election-lease-duration=30s"] });
    expect([codeAsks.manager.leaderElection, codeAsks.leaderElection]).toEqual([undefined, { lease: 30_000 }]);
    expect(off.manager.metrics).toBeUndefined();
  });

  it("prefers the file named in code to that of a flag", async () => {
    const [code, flag] = [file("code.yaml", "name: code"), file("flag.yaml", "name: flag")];
    expect((await readConfiguration({ file: code, args: ["--config", flag] })).manager.name).toBe("code");
  });

  it("accepts several audiences, separated by commas or as a list", async () => {
    const lists = [
      await readConfiguration({ args: ["--metrics-audiences", "metrics, scraper"] }),
      await readConfiguration({ file: file("list.yaml", "metricsAudiences: [metrics, scraper]") }),
    ];
    for (const { manager } of lists) expect(manager).toEqual({ metricsAudiences: ["metrics", "scraper"] });
  });

  it.each<[string, Parameters<typeof readConfiguration>[0], string]>([
    [
      "a flag",
      { args: ["--graceful-shutdown-timeout", "soon"] },
      '--graceful-shutdown-timeout: "soon": expected a duration',
    ],
    ["a flag that there is not", { args: ["--naem=a"] }, "--naem: there is no such flag; there are --config, --name"],
    ["a flag without value", { args: ["--name"] }, "--name: a value is missing"],
    [
      "a variable",
      { env: { SETPOINT_LEADER_ELECTION: "yes" } },
      'SETPOINT_LEADER_ELECTION: "yes": expected true or false',
    ],
    ["an address", { env: { SETPOINT_HEALTH: "8081" } }, 'SETPOINT_HEALTH: "8081": expected host:port'],
    [
      "a field",
      { file: file("a.yaml", "webhooks: { port: high }") },
      'a.yaml: webhooks.port: "high": expected a number',
    ],
    [
      "an unknown field",
      { file: file("b.yaml", "leaderElection: { laese: 1s }") },
      "b.yaml: leaderElection.laese: there",
    ],
    ["an invalid section", { file: file("c.yaml", "apps: 3") }, "c.yaml: apps: expected fields with values"],
    ["a missing file", { file: join(folder, "none.yaml") }, "none.yaml: ENOENT"],
  ])("names %s that cannot be read", async (_what, sources, message) => {
    await expect(readConfiguration(sources)).rejects.toMatchObject({
      code: "CONFIGURATION_INVALID",
      message: expect.stringContaining(message),
    });
  });

  it("of an app is validated by its provider's schema, and errors name the field", async () => {
    const config = z.object({ region: z.string(), size: z.int().default(3) });
    let given: unknown;
    const create = (value: z.output<typeof config>) => {
      given = value;
      return app({ name: "shop", kinds: [] });
    };
    const provider = { name: "shop", config, create };
    await provideApp(provider, { region: "eu" } as z.output<typeof config>);
    expect(given).toEqual({ region: "eu", size: 3 });
    const wrong = provideApp(provider, { region: 1, size: "x" } as never);
    await expect(wrong).rejects.toMatchObject({
      message: expect.stringMatching(/apps\.shop\.region: .*; apps\.shop\.size: /),
    });
  });
});

it("parses addresses of both families", () => {
  expect(parseAddress("[::1]:80")).toEqual({ host: "::1", port: 80 });
  expect(parseAddress(":80")).toEqual({ host: "", port: 80 });
  expect(() => parseAddress("host:99999")).toThrow("not an address");
});
