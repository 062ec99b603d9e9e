import { Buffer } from "node:buffer";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { TransportResponse } from "../../client/transport/transport.js";
import { CustomResourceDefinition } from "../../kinds/builtin/apiextensions.k8s.io/v1.js";
import { ReplicaSet } from "../../kinds/builtin/apps/v1.js";
import { ConfigMap } from "../../kinds/builtin/v1.js";
import { type Logger, silentLogger } from "../../loop/logger.js";
import { terminal, waitFor } from "../../loop/outcome.js";
import { controller } from "../controller.js";
import { failure, Website, World } from "../world.testing.js";

/** An error response of something that is no API server. */
function errorPage(status: number, text: string): TransportResponse {
  const body = (async function* () {
    yield Buffer.from(text);
  })();
  return { status, headers: { "content-type": "text/plain" }, body };
}

function withSubresources(
  definition: CustomResourceDefinition,
  subresources: { readonly status: Readonly<Record<string, never>> } | undefined,
): CustomResourceDefinition {
  const versions = definition.spec.versions.map(({ subresources: _, ...version }) =>
    subresources ? { ...version, subresources } : version,
  );
  return { ...definition, spec: { ...definition.spec, versions } };
}

it("writes the status of a kind without a status subresource, also if several runs find that out at once", async () => {
  await using world = await World.create();
  const definition = await world.client.get(CustomResourceDefinition, "websites.web.example.com");
  await world.client.update(CustomResourceDefinition, withSubresources(definition, undefined));
  await world.clock.advance(5_000);
  const failed: unknown[] = [];
  for (const name of ["a", "b", "c"]) await world.createWebsite(name);
  await world.run(
    controller(Website, {
      onError: (error) => failed.push(error),
      reconcile: (_, ctx) => ctx.status({ ready: 1 }),
    }),
  );
  await world.clock.advance(5_000);
  for (const name of ["a", "b", "c"]) expect((await world.website(name))?.status?.ready).toBe(1);
  expect(failed).toEqual([]);
});

it("writes a field whose zero value the server had left out", async () => {
  await using world = await World.create();
  await world.run(
    controller(ReplicaSet, {
      namespaces: ["team"],
      reconcile: ({ metadata: { annotations = {} } }, ctx) => {
        ctx.status({ replicas: 3, readyReplicas: Number(annotations.ready ?? 0) });
      },
    }),
  );
  const labels = { app: "a" };
  const template = { metadata: { labels }, spec: { containers: [{ name: "a", image: "a" }] } };
  await world.client.create(ReplicaSet, {
    metadata: { name: "a", namespace: "team" },
    spec: { replicas: 3, selector: { matchLabels: labels }, template },
  });
  await world.clock.settle();
  const patch = { type: "merge", body: { metadata: { annotations: { ready: "3" } } } } as const;
  await world.client.patch(ReplicaSet, "a", patch, { namespace: "team" });
  await world.clock.settle();
  const { status } = await world.client.get(ReplicaSet, "a", { namespace: "team" });
  expect(status).toMatchObject({ replicas: 3, readyReplicas: 3 });
});

it("goes on without optional conditions, and tries only once to write those that a CRD drops", async () => {
  await using world = await World.create();
  const definition = await world.client.get(CustomResourceDefinition, "websites.web.example.com");
  const versions = definition.spec.versions.map((version) => {
    const whole = version.schema!.openAPIV3Schema!;
    const status = { type: "object", properties: { phase: { type: "string" } } };
    const schema = { ...whole, properties: { ...whole.properties, status } };
    return { ...version, schema: { openAPIV3Schema: schema } };
  });
  await world.client.update(CustomResourceDefinition, {
    ...definition,
    spec: { ...definition.spec, versions },
  } as never);
  await world.clock.advance(5_000);
  const failed: unknown[] = [];
  await world.run(
    controller(Website, {
      conditions: "optional",
      resync: "1m",
      onError: (error) => failed.push(error),
      reconcile: (_, ctx) => {
        ctx.status({ ready: 1, phase: "Serving" });
        ctx.condition({ type: "Available", status: "True", reason: "Serving" });
      },
    }),
  );
  await world.createWebsite("a");
  await world.clock.advance(600_000);
  expect((await world.website("a"))?.status).toEqual({ phase: "Serving" });
  expect(world.writes).toHaveLength(1);
  expect(failed).toEqual([]);
});

describe("the status of a run", () => {
  let world: World;
  beforeEach(async () => {
    world = await World.create();
  });
  afterEach(() => world[Symbol.asyncDispose]());

  const setImage = (image: string) =>
    world.client.patch(Website, "a", { type: "merge", body: { spec: { image } } }, { namespace: "team" });
  const definition = () => world.client.get(CustomResourceDefinition, "websites.web.example.com");

  it("is written once at the end of the run, and causes no further run", async () => {
    await world.run(
      controller(Website, {
        reconcile: (_, ctx) => {
          ctx.status({ ready: 1 });
          ctx.status({ phase: "Serving" });
          ctx.condition({ type: "Available", status: "True", reason: "Serving" });
        },
      }),
    );
    await world.createWebsite("a");
    await world.clock.settle();
    const site = await world.website("a");
    expect(site?.status).toMatchObject({ ready: 1, phase: "Serving" });
    expect(site?.status?.conditions).toMatchObject([{ type: "Available", status: "True", observedGeneration: 1 }]);
    expect(world.writes).toEqual(["PATCH /apis/web.example.com/v1/namespaces/team/websites/a/status"]);
    expect(world.runs()).toHaveLength(1);
  });

  it("is written also if the run throws, and not if it is unchanged", async () => {
    let calls = 0;
    await world.run(
      controller(Website, {
        retry: { initial: "1s", jitter: 0 },
        reconcile: (_, ctx) => {
          ctx.status({ phase: "Failing" });
          if (calls++ < 2) throw new Error("no database");
        },
      }),
    );
    await world.createWebsite("a");
    await world.clock.settle();
    expect([calls, (await world.website("a"))?.status?.phase]).toEqual([1, "Failing"]);
    await world.clock.advance(10_000);
    expect(calls).toBe(3);
    expect(world.writes).toHaveLength(1);
  });

  it("is merged into a newer one after a conflict", async () => {
    const { client } = world;
    let hasInterfered = false;
    await world.run(
      controller(Website, {
        reconcile: async (_, ctx) => {
          ctx.status({ ready: 1 });
          if (hasInterfered) return;
          hasInterfered = true;
          const body = { status: { phase: "FromElsewhere" } };
          await client.patch(Website, "a", { type: "merge", body }, { namespace: "team", subresource: "status" });
        },
      }),
    );
    await world.createWebsite("a");
    await world.clock.settle();
    expect((await world.website("a"))?.status).toMatchObject({ ready: 1, phase: "FromElsewhere" });
    expect(world.runs().length).toBeGreaterThan(1);
  });

  it("fails the run if it cannot be written", async () => {
    const errors: unknown[] = [];
    world.fault = ({ method, path }) =>
      method === "PATCH" && path.includes("/status") ? failure(403, "Forbidden") : undefined;
    await world.run(
      controller(Website, {
        retry: { initial: "1s", jitter: 0 },
        onError: (error) => errors.push(error),
        reconcile: (_, ctx) => ctx.status({ ready: 1 }),
      }),
    );
    await world.createWebsite("a");
    await world.clock.settle();
    expect(errors).toMatchObject([{ code: "API_FORBIDDEN" }]);
    world.fault = undefined;
    await world.clock.advance(5_000);
    expect((await world.website("a"))?.status?.ready).toBe(1);
  });

  it.each([
    ["something in between that knows no such path", () => errorPage(404, "404 page not found")],
    ["a server that denies the object, which is there", () => failure(404, "NotFound")],
  ])("is written in spite of one 404 from %s", async (_, answer) => {
    let missed = 0;
    world.fault = ({ method, path }) =>
      method === "PATCH" && path.includes("/status") && missed++ === 0 ? answer() : undefined;
    await world.run(controller(Website, { reconcile: ({ spec }, ctx) => ctx.status({ phase: spec.image }) }));
    await world.createWebsite("a", { image: "one" });
    await world.clock.advance(5_000);
    expect((await world.website("a"))?.status?.phase).toBe("one");
    await setImage("two");
    await world.clock.advance(5_000);
    expect((await world.website("a"))?.status?.phase).toBe("two");
  });

  it("shows a wait in spite of one 404 from a proxy", async () => {
    let missed = 0;
    world.fault = ({ method }) => (method === "PATCH" && missed++ === 0 ? errorPage(404, "no page") : undefined);
    await world.run(controller(Website, { reconcile: () => waitFor("Database") }));
    await world.createWebsite("a");
    await world.clock.advance(5_000);
    expect((await world.website("a"))?.status?.conditions).toMatchObject([{ reason: "Database" }]);
  });

  it("fails the run while the kind is not served, and is written when it is served again", async () => {
    const errors: unknown[] = [];
    world.fault = ({ path }) => (path.includes("/websites/a") ? errorPage(404, "404 page not found") : undefined);
    await world.run(
      controller(Website, {
        retry: { initial: "1s", jitter: 0 },
        onError: (error) => errors.push(error),
        reconcile: (_, ctx) => ctx.status({ ready: 1 }),
      }),
    );
    await world.createWebsite("a");
    await world.clock.settle();
    expect(errors).toMatchObject([{ code: "API_NOT_SERVED" }]);
    world.fault = undefined;
    await world.clock.advance(5_000);
    expect((await world.website("a"))?.status?.ready).toBe(1);
  });

  it("is written to the status subresource once the kind has one", async () => {
    await world.client.update(CustomResourceDefinition, withSubresources(await definition(), undefined));
    await world.clock.advance(5_000);
    await world.run(controller(Website, { reconcile: ({ spec }, ctx) => ctx.status({ phase: spec.image }) }));
    await world.createWebsite("a", { image: "one" });
    await world.clock.advance(5_000);
    expect((await world.website("a"))?.status?.phase).toBe("one");
    await world.client.update(CustomResourceDefinition, withSubresources(await definition(), { status: {} }));
    await world.clock.advance(60_000);
    await setImage("two");
    await world.clock.advance(5_000);
    expect((await world.website("a"))?.status?.phase).toBe("two");
  });

  it("fails the run if the write is not answered in time", async () => {
    const errors: unknown[] = [];
    world.hangs = ({ method, path }) => method === "PATCH" && path.includes("/status");
    await world.run(
      controller(Website, {
        retry: { initial: "1s", jitter: 0 },
        onError: (error) => errors.push(error),
        reconcile: (_, ctx) => ctx.status({ ready: 1 }),
      }),
    );
    await world.createWebsite("a");
    await world.clock.advance(29_000);
    expect(errors).toEqual([]);
    world.hangs = undefined;
    await world.clock.advance(5_000);
    expect(errors).toHaveLength(1);
    expect((await world.website("a"))?.status?.ready).toBe(1);
  });

  it("shows a terminal error although the first writes failed", async () => {
    let refused = 0;
    const errors: unknown[] = [];
    world.fault = ({ method, path }) =>
      method === "PATCH" && path.includes("/status") && refused++ < 2 ? failure(500, "InternalError") : undefined;
    await world.run(
      controller(Website, {
        retry: { initial: "1s", jitter: 0 },
        onError: (error) => errors.push(error),
        reconcile: () => terminal(new Error("the image does not exist")),
      }),
    );
    await world.createWebsite("a");
    await world.clock.advance(600_000);
    const { conditions } = (await world.website("a"))?.status ?? {};
    expect(conditions).toMatchObject([{ reason: "TerminalError", message: "the image does not exist" }]);
    expect(errors.map((error) => (error as Error).message)).toEqual(Array(3).fill("the image does not exist"));
    expect(world.runs().at(-1)?.outcome).toBe("terminal");
  });

  it("names the reconciled generation in `Reconciled`, not the current one", async () => {
    let open = (): void => {};
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    await world.run(
      controller(Website, {
        uses: [ConfigMap],
        reconcile: async ({ metadata }, ctx) => {
          await ctx.get(ConfigMap, "settings");
          if (metadata.generation !== 1) throw new Error("this one fails");
          await gate;
        },
      }),
    );
    const shown = async () => (await world.website("a"))?.status?.conditions;
    await world.createWebsite("a");
    await world.clock.settle();
    expect(await shown()).toMatchObject([{ type: "Reconciled", status: "False", observedGeneration: 1 }]);
    await world.client.create(ConfigMap, { metadata: { name: "settings", namespace: "team" } });
    await world.clock.settle();
    await setImage("two");
    await world.clock.settle();
    open();
    await world.clock.settle();
    expect(await shown()).toMatchObject([{ type: "Reconciled", status: "True", observedGeneration: 1 }]);
  });

  it("of a failed run is logged if it cannot be written", async () => {
    const lines: string[] = [];
    world.fault = ({ method, path }) =>
      method === "PATCH" && path.includes("/status") ? failure(422, "Invalid") : undefined;
    const log: Logger = { ...silentLogger, warn: (message) => lines.push(message), with: () => log };
    const sites = controller(Website, {
      reconcile(_, ctx) {
        ctx.status({ ready: 1 });
        return terminal("no");
      },
    });
    await world.run(sites, { log });
    await world.createWebsite("a");
    await world.clock.settle();
    expect(lines).toEqual([expect.stringContaining("could not write the status of team/a: PATCH")]);
  });
});
