import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base";
import { describe, expect, it } from "vitest";
import { ConfigMap, Secret } from "../../kinds/builtin/v1.js";
import { controller } from "../controller.js";
import { SecretMask } from "../secrets/secret-mask.js";
import { failure, Website, World } from "../world.testing.js";
import { Traces } from "./traces.js";

function collected() {
  const exporter = new InMemorySpanExporter();
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  const mask = new SecretMask();
  return { exporter, mask, traces: new Traces(provider.getTracer("setpoint"), mask) };
}

describe("traces, by the real OpenTelemetry SDK", () => {
  it("link a write to the reconcile that it causes elsewhere, and that one to its own writes", async () => {
    await using world = await World.create();
    const { exporter, traces } = collected();
    const cluster = world.cluster();
    const sites = controller(Website, {
      owns: [ConfigMap],
      async reconcile({ metadata, spec }, ctx) {
        await ctx.apply(ConfigMap, { metadata: { name: metadata.name }, data: { image: spec.image } });
      },
    });
    const maps = controller(ConfigMap, {
      namespaces: ["team"],
      writes: ["patch"],
      async reconcile({ metadata }, ctx) {
        if (metadata.labels?.seen) return;
        const body = { metadata: { labels: { seen: "yes" } } };
        await ctx.patch(ConfigMap, metadata.name, { type: "merge", body });
      },
    });
    await world.run(sites, { cluster, traces });
    await world.run(maps, { cluster, traces });
    await world.createWebsite("a");
    await world.clock.advance(1_000);

    const spans = exporter.getFinishedSpans();
    const named = (name: string) =>
      spans.filter((span) => span.name === name && span.attributes["setpoint.object"] === "team/a");
    const [site] = named("reconcile websites");
    const [apply] = named("apply v1/ConfigMap");
    const [map] = named("reconcile configmaps");
    const [patch] = named("patch v1/ConfigMap");
    expect(apply?.parentSpanContext?.spanId).toBe(site?.spanContext().spanId);
    expect(map?.links.map(({ context }) => context.spanId)).toEqual([apply?.spanContext().spanId]);
    expect(patch?.parentSpanContext?.spanId).toBe(map?.spanContext().spanId);
    expect(site?.attributes).toMatchObject({ "setpoint.controller": "websites", "setpoint.outcome": "done" });
    // The links come from resourceVersions only: the objects carry no trace context.
    const made = await world.client.get(ConfigMap, "a", { namespace: "team" });
    expect(JSON.stringify(made)).not.toContain(apply?.spanContext().traceId);
  });

  it("show failed runs, and failed writes", async () => {
    await using world = await World.create();
    const { exporter, traces } = collected();
    const sites = controller(Website, {
      owns: [ConfigMap],
      retry: { attempts: 0 },
      async reconcile({ metadata }, ctx) {
        await ctx.apply(ConfigMap, { metadata: { name: metadata.name }, data: { a: 1 as never } });
      },
    });
    await world.run(sites, { traces });
    await world.createWebsite("a");
    await world.clock.advance(1_000);
    const failed = exporter.getFinishedSpans().filter(({ status }) => status.code === 2);
    expect(failed.map(({ name }) => name)).toEqual(["apply v1/ConfigMap", "reconcile websites"]);
  });

  it("show no value of a Secret that a server quotes", async () => {
    await using world = await World.create();
    const { exporter, traces, mask } = collected();
    const sites = controller(Website, {
      owns: [Secret],
      retry: { attempts: 0 },
      async reconcile({ metadata }, ctx) {
        await ctx.apply(Secret, { metadata: { name: metadata.name }, stringData: { token: "tr0ub4dor&3" } });
      },
    });
    world.fault = ({ method, path }) =>
      method === "PATCH" && path.includes("/secrets/")
        ? failure(422, "Invalid", 'stringData.token: Invalid value: "tr0ub4dor&3"')
        : undefined;
    await world.run(sites, { traces, mask });
    await world.createWebsite("a");
    await world.clock.advance(1_000);
    const messages = exporter.getFinishedSpans().map(({ status }) => status.message ?? "");
    expect(messages.filter((message) => message.includes("***"))).toHaveLength(2);
    expect(messages.join()).not.toContain("tr0ub4dor");
  });
});
