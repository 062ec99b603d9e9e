import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { compareCrds } from "setpoint/kinds";
import { TestEnvironment } from "setpoint/testing";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { agentKinds } from "../agents-app.js";
import { NS, virtualPlace } from "../place.testing.js";
import { World } from "../world.testing.js";
import { Agent } from "./agent.js";
import { ModelConfig } from "./model-config.js";
import { RemoteMCPServer } from "./remote-mcp-server.js";

const folder = fileURLToPath(new URL("../../../../../shared/fixtures/agents/crds/", import.meta.url));
const isThere = existsSync(folder);
const published = (plural: string) => parse(readFileSync(`${folder}${plural}.yaml`, "utf8"));

interface Rules {
  readonly "x-kubernetes-validations"?: readonly { readonly rule: string }[];
  readonly properties?: Readonly<Record<string, Rules>>;
  readonly items?: Rules;
}

/** Every rule below the specification with its path, without those of pods, which are the API server's. */
function rulesOf(schema: Rules, path = "spec"): readonly string[] {
  if (/\.(volumes|affinity|extraContainers|env|envFrom|sidecars|podSecurityContext|securityContext)\b/.test(path))
    return [];
  return [
    ...(schema["x-kubernetes-validations"] ?? []).map(({ rule }) => `${path}: ${rule}`),
    ...Object.entries(schema.properties ?? {}).flatMap(([name, field]) => rulesOf(field, `${path}.${name}`)),
    ...(schema.items ? rulesOf(schema.items, `${path}[]`) : []),
  ];
}

describe.skipIf(!isThere)("kagent's published CRDs (skipped where ../shared/fixtures/agents is absent)", () => {
  it.each(agentKinds.map((kind) => [kind.plural, kind] as const))(
    "%s: our schema accepts what theirs accepts, and has their rules",
    (plural, kind) => {
      const theirs = published(plural);
      const ours = kind.crd();
      const version = theirs.spec.versions.find(({ name }: { name: string }) => name === kind.version);
      const alone = { ...theirs, spec: { ...theirs.spec, versions: [version] } };
      // Theirs also accepts an object without a specification, and does nothing with it.
      const findings = compareCrds(alone as never, ours as never).filter(({ path }) => !/^v\w+: spec$/.test(path));
      expect(findings).toEqual([]);
      const spec = (crd: { spec: { versions: readonly { schema?: unknown }[] } }): Rules =>
        (crd.spec.versions[0]!.schema as { openAPIV3Schema: { properties: { spec: Rules } } }).openAPIV3Schema
          .properties.spec;
      expect([...rulesOf(spec(ours as never))].sort()).toEqual([...rulesOf(spec(alone))].sort());
    },
  );

  it("the operator works with them installed, and writes nothing over and over", async () => {
    await using world = await World.create(
      {},
      {
        ...virtualPlace,
        environment: () =>
          TestEnvironment.create({ kinds: agentKinds.map(({ plural }) => published(plural)), namespaces: [NS] }),
      },
    );
    await world.basics();
    world.answers.set("http://tools/mcp", ["a"]);
    await world.server("tools", "http://tools/mcp");
    await world.agent("math", {
      tools: [{ type: "McpServer", mcpServer: { name: "tools", kind: "RemoteMCPServer", apiGroup: "kagent.dev" } }],
    });
    expect(await world.accepted(Agent, "math")).toBe("True Reconciled");
    expect(await world.accepted(RemoteMCPServer, "tools")).toBe("True Reconciled");
    const before = world.writes.length;
    for (const [kind, name] of [
      [Agent, "math"],
      [RemoteMCPServer, "tools"],
      [ModelConfig, "model"],
    ] as const) {
      for (let at = 0; at < 3; at++)
        await world.edit(kind, name, { metadata: { annotations: { "setpoint.dev/reconcile-now": String(at) } } });
    }
    expect(world.writes.slice(before)).toEqual([]);
  });
});
