import { isDeepStrictEqual } from "node:util";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { startKubernetes } from "../../../../../tools/kubernetes/start.mjs";
import { isInvalid } from "../../client/api-error.js";
import type { Client } from "../../client/client.js";
import { connect } from "../../client/connect.js";
import { CustomResourceDefinition } from "../builtin/apiextensions.k8s.io/v1.js";
import { discoverKind } from "../discovered-kind.js";
import { k8s } from "../k8s.js";
import type { ObjectOf } from "../kind.js";
import type { NewObject } from "../object.js";
import { resource } from "../resource.js";
import { toRe2 } from "../schema/re2.js";
import { installCrd } from "./install-crd.js";

let cluster: Awaited<ReturnType<typeof startKubernetes>>;
let client: Client;

beforeAll(async () => {
  cluster = await startKubernetes();
  client = await connect({ kubeconfig: cluster.kubeconfig });
});

afterAll(async () => {
  await client?.[Symbol.asyncDispose]();
  await cluster?.stop();
});

const Port = z.object({
  name: z.string(),
  port: z.int32().min(1).max(65535),
  protocol: z.enum(["TCP", "UDP"]).default("TCP"),
});

/** Everything that a schema can express. */
const Everything = resource("kinds.example.com/v1/Everything", {
  scope: "Cluster",
  shortNames: ["ev"],
  categories: ["all"],
  description: "All that a schema can say.",
  spec: z
    .object({
      image: z
        .string()
        .regex(/^[a-z]+(\/[a-z]+)*$/)
        .describe("What to run."),
      replicas: z.int().min(0).default(1),
      ratio: z.number().gt(0).lt(1).optional(),
      mode: z.enum(["fast", "slow"]).nullable(),
      color: z.enum(["red", "green"]).optional(),
      labels: z.record(z.string().regex(/^[a-z]+$/), z.string()).optional(),
      counts: z.record(z.enum(["a", "b"]), z.int()).optional(),
      ports: z.array(Port).meta(k8s.listMap("port", "protocol")).default([]),
      hosts: z.array(z.string()).meta(k8s.listSet).optional(),
      target: z.union([z.int(), z.string()]).optional(),
      memory: z.string().meta(k8s.quantity).optional(),
      storage: z.union([z.int(), z.string()]).meta(k8s.quantity).optional(),
      source: z.discriminatedUnion("type", [
        z.object({ type: z.literal("git"), url: z.url(), depth: z.int().optional() }),
        z.object({ type: z.literal("inline"), text: z.string(), namespace: z.string().optional() }),
        z.object({ type: z.literal("none") }),
      ]),
      steps: z
        .array(z.union([z.object({ run: z.string() }), z.object({ use: z.string(), "with-it": z.string() })]))
        .optional(),
      deep: z
        .array(
          z.record(
            z.string(),
            z.array(
              z.discriminatedUnion("t", [
                z.object({ t: z.literal("a"), x: z.string() }),
                z.object({ t: z.literal("b"), y: z.string() }),
              ]),
            ),
          ),
        )
        .optional(),
      template: z.looseObject({}).meta(k8s.embeddedResource).optional(),
      raw: z.unknown().optional(),
      blob: z.record(z.string(), z.unknown()).optional(),
      loose: z.looseObject({ a: z.string().optional() }).optional(),
      when: z.iso.datetime().optional(),
      id: z.uuid().optional(),
      mail: z.email().optional(),
      address: z.union([z.ipv4(), z.ipv6()]).optional(),
      nested: z.object({ deep: z.object({ x: z.int().default(3) }).prefault({}) }).prefault({}),
      ends: z.string().startsWith("a").endsWith("b").optional(),
      entries: z.record(z.string(), z.array(z.object({ value: z.string().default("x") }))).optional(),
      whole: z.object({ x: z.string().optional() }).meta(k8s.mapAtomic).optional(),
    })
    .meta(k8s.rules(k8s.rule("self.replicas < 10 || has(self.color)", "more than nine need a color"))),
  status: z.object({ ready: z.int(), selector: z.string().optional() }),
  columns: {
    Image: ".spec.image",
    Ready: ".status.ready",
    First: { path: ".spec.ports[0].name", priority: 1 },
    Age: ".metadata.creationTimestamp",
  },
  scale: { spec: ".spec.replicas", status: ".status.ready", selector: ".status.selector" },
  selectableFields: [".spec.color"],
  rules: [k8s.rule("self.metadata.name.size() < 20", "the name is too long")],
});

type New = NewObject<ObjectOf<typeof Everything>>;

/** An object with a spec that its type might not allow. */
const given = (spec: object, name = "a"): New => ({ metadata: { name }, spec }) as unknown as New;

const soon = { timeout: 60_000 };
const base = { image: "a/b", mode: null, source: { type: "none" } };

describe("a CustomResourceDefinition, on a real kube-apiserver", () => {
  it("is accepted and served, with everything that a schema can express", async () => {
    expect(await installCrd(client, Everything.crd())).toBe("created");
    // A server reports a definition as established before it serves and announces it.
    await vi.waitFor(() => client.list(Everything), soon);
    const discovered = await vi.waitFor(() => discoverKind(client, "kinds.example.com/v1/Everything"), soon);
    expect(discovered).toMatchObject({ plural: Everything.plural, scope: "Cluster" });
    const conditions = (await client.get(CustomResourceDefinition, Everything.crd().metadata.name)).status?.conditions;
    expect(conditions?.find(({ type }) => type === "NonStructuralSchema")).toBeUndefined();
  });

  it("is returned as it was sent, so that installing it again writes nothing", async () => {
    const stored = await client.get(CustomResourceDefinition, Everything.crd().metadata.name);
    expect(stored.spec).toEqual(Everything.crd().spec);
    expect(await installCrd(client, Everything.crd())).toBe("unchanged");
  });

  it.each<[string, object]>([
    ["the least", base],
    ["a choice that may be null", { ...base, mode: "fast" }],
    ["a bound", { ...base, ratio: 0.5 }],
    ["keys that match", { ...base, labels: { abc: "d" } }],
    ["named keys", { ...base, counts: { a: 1, b: 2 } }],
    [
      "items identified by two fields",
      {
        ...base,
        ports: [
          { name: "a", port: 1 },
          { name: "b", port: 1, protocol: "UDP" },
        ],
      },
    ],
    ["a number for int-or-string", { ...base, target: 80 }],
    ["a text for int-or-string", { ...base, target: "http" }],
    ["a quantity", { ...base, memory: "1.5Gi", storage: 5 }],
    ["one branch of a union", { ...base, source: { type: "git", url: "https://example.com" } }],
    ["another branch", { ...base, source: { type: "inline", text: "a", namespace: "b" } }],
    ["branches in a list", { ...base, steps: [{ run: "a" }, { use: "b", "with-it": "c" }] }],
    [
      "a whole object",
      { ...base, template: { apiVersion: "v1", kind: "Pod", metadata: { name: "a" }, spec: { b: 1 } } },
    ],
    ["anything", { ...base, raw: [1, { a: null }], blob: { a: { b: [1] } }, loose: { a: "b", c: 1 } }],
    ["texts of known formats", { ...base, when: "2026-01-01T00:00:00Z", mail: "a@example.com", address: "::1" }],
    ["null where there is a default", { ...base, replicas: null }],
    ["gaps deep inside", { ...base, entries: { a: [{}, { value: "y" }] } }],
  ])("accepts %s, with the defaults that we fill in", async (_name, spec) => {
    const object = given(spec);
    expect(Everything.validate(object)).toEqual([]);
    const created = await client.create(Everything, object, { dryRun: true });
    const ours = Everything.withDefaults(object) as unknown as { spec: unknown };
    expect(isDeepStrictEqual(created.spec, ours.spec), JSON.stringify([created.spec, ours.spec])).toBe(true);
  });

  it.each<[string, object, string]>([
    ["a missing field", { mode: null, source: { type: "none" } }, "spec.image"],
    ["a text that does not match", { ...base, image: "A" }, "spec.image"],
    ["another choice", { ...base, mode: "other" }, "spec.mode"],
    ["an exclusive bound itself", { ...base, ratio: 0 }, "spec.ratio"],
    ["keys that do not match", { ...base, labels: { A: "b" } }, "spec.labels"],
    ["a missing key", { ...base, counts: { a: 1 } }, "spec.counts.b"],
    [
      "two items alike",
      {
        ...base,
        ports: [
          { name: "a", port: 1 },
          { name: "b", port: 1 },
        ],
      },
      "spec.ports[1]",
    ],
    ["a text twice in a set", { ...base, hosts: ["a", "a"] }, "spec.hosts[1]"],
    ["a boolean for int-or-string", { ...base, target: true }, "spec.target"],
    ["no quantity", { ...base, memory: "1Q" }, "spec.memory"],
    ["a branch without its field", { ...base, source: { type: "git" } }, "spec.source.url"],
    ["an invalid branch", { ...base, source: { type: "x" } }, "spec.source.type"],
    ["no branch", { ...base, steps: [{ use: "b" }] }, "spec.steps[0]"],
    ["a branch deep inside", { ...base, deep: [{ k: [{ t: "a" }] }] }, "spec.deep[0]"],
    ["an object of no kind", { ...base, template: { metadata: {} } }, "spec.template.apiVersion"],
    ["a text with the wrong end", { ...base, ends: "aa" }, "spec.ends"],
    ["no time", { ...base, when: "yesterday" }, "spec.when"],
    ["no address", { ...base, address: "here" }, "spec.address"],
  ])("refuses %s, as we do, and names the field", async (_name, spec, path) => {
    const object = given(spec);
    expect(
      Everything.validate(object)
        .map((problem) => problem.path)
        .join(" "),
    ).toContain(path);
    const refused = await client.create(Everything, object, { dryRun: true }).catch((error: unknown) => error);
    expect(isInvalid(refused)).toBe(true);
    expect(String(refused)).toContain(path);
  });

  it.each<[object, string, string]>([
    [{ ...base, replicas: 10 }, "a", "more than nine need a color"],
    [
      { ...base, source: { type: "git", url: "https://e.org", text: "a" } },
      "a",
      'text may only be set when type is "inline"',
    ],
    [base, "a".repeat(20), "the name is too long"],
  ])("checks rules: %j", async (spec, name, message) => {
    await expect(client.create(Everything, given(spec, name), { dryRun: true })).rejects.toThrow(message);
  });

  it("has its subresources and selectable fields", async () => {
    await client.create(Everything, given({ ...base, color: "red" }, "red"));
    await client.create(Everything, given({ ...base, color: "green" }, "green"));
    const red = await client.list(Everything, { fieldSelector: "spec.color=red" });
    expect(red.items.map((object) => object.metadata.name)).toEqual(["red"]);
    const scale = await client.getSubresource<{ spec: { replicas: number } }>(Everything, "red", {
      subresource: "scale",
    });
    expect(scale.spec.replicas).toBe(1);
    const status = { ready: 1 };
    await client.patch(Everything, "red", { type: "merge", body: { status } }, { subresource: "status" });
    expect((await client.get(Everything, "red")).status).toEqual(status);
  });

  it("of several versions is accepted, without conversion and with a webhook", async () => {
    const spec = z.object({ size: z.int().default(1) });
    const Old = resource("kinds.example.com/v1beta1/Versioned", { spec });
    const Versioned = resource("kinds.example.com/v1/Versioned", { spec });
    const both = Versioned.withVersion(Old, { deprecated: "use v1" });
    expect(await installCrd(client, Versioned.crd())).toBe("created");
    expect(await installCrd(client, both.crd())).toBe("updated");
    const converting = Versioned.withVersion(Old, { up: ({ spec }) => ({ spec }), down: ({ spec }) => ({ spec }) });
    const conversionWebhook = { url: "https://127.0.0.1:9443/convert" };
    expect(await installCrd(client, converting.crd({ conversionWebhook }))).toBe("updated");
    expect(await installCrd(client, converting.crd({ conversionWebhook }))).toBe("unchanged");
  });

  it("that replaces an older one is refused before it is sent if the server would refuse it", async () => {
    const spec = z.object({ size: z.int().default(1) });
    const First = resource("kinds.example.com/v1/Moved", { spec });
    const Second = resource("kinds.example.com/v2/Moved", { spec });
    await installCrd(client, First.crd());
    await expect(installCrd(client, Second.crd(), { allowIncompatible: true })).rejects.toMatchObject({
      code: "CRD_REFUSED",
    });
    const stored = await client.get(CustomResourceDefinition, First.crd().metadata.name);
    const sent = client.update(CustomResourceDefinition, { ...stored, spec: Second.crd().spec }, { dryRun: true });
    await expect(sent).rejects.toThrow("status.storedVersions");
    const Cluster = resource("kinds.example.com/v1/Moved", { spec, scope: "Cluster" });
    await expect(installCrd(client, Cluster.crd())).rejects.toMatchObject({ code: "CRD_REFUSED" });
    const scoped = client.update(CustomResourceDefinition, { ...stored, spec: Cluster.crd().spec }, { dryRun: true });
    await expect(scoped).rejects.toThrow("immutable");
  });

  it("whose names are taken is reported", async () => {
    const First = resource("kinds.example.com/v1/Taken", { spec: z.object({}), shortNames: ["tk"] });
    const Second = resource("kinds.example.com/v1/Late", { spec: z.object({}), singular: "taken" });
    await installCrd(client, First.crd());
    await expect(installCrd(client, Second.crd())).rejects.toMatchObject({
      code: "CRD_NOT_ESTABLISHED",
      message: expect.stringContaining("taken"),
    });
  });

  it("accepts exactly the patterns that we consider valid RE2", async () => {
    const patterns = [
      "^\\/a",
      "a\\-b",
      "(?<n>a)",
      "\\u0041",
      "\\x41",
      "\\p{L}",
      "\\p{Script=Greek}",
      "\\bfoo\\b",
      "\\0",
      "[\\w.-]",
    ];
    const foreign = ["(?=a)", "(?<!a)", "(a)\\1", "a{1001}", "[^]", "\\cA", "\\p{Emoji}"];
    const accepted = async (pattern: string): Promise<boolean> => {
      const { schema, ...crd } = { schema: { type: "string", pattern }, ...Everything.crd() };
      const openAPIV3Schema = { type: "object", properties: { spec: { type: "object", properties: { a: schema } } } };
      const spec = {
        ...crd.spec,
        names: { kind: "Pattern", plural: "patterns" },
        versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema } }],
      };
      const object = { metadata: { name: "patterns.kinds.example.com" }, spec };
      return client.create(CustomResourceDefinition, object, { dryRun: true }).then(
        () => true,
        () => false,
      );
    };
    for (const pattern of patterns) {
      const translation = toRe2(pattern);
      expect("pattern" in translation && (await accepted(translation.pattern)), pattern).toBe(true);
    }
    for (const pattern of foreign) {
      expect(toRe2(pattern)).toHaveProperty("problem");
      expect(await accepted(pattern), pattern).toBe(false);
    }
  });
});
