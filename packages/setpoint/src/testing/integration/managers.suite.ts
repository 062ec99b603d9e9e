import { describe, expect, it } from "vitest";
import { z } from "zod";
import { controller } from "../../controller/controller.js";
import { describePlan } from "../../controller/run/planned-run.js";
import { Website } from "../../controller/world.testing.js";
import { ClusterRole, ClusterRoleBinding } from "../../kinds/builtin/rbac.authorization.k8s.io/v1.js";
import { ConfigMap, ServiceAccount } from "../../kinds/builtin/v1.js";
import type { Kind } from "../../kinds/kind.js";
import type { JsonObject } from "../../kinds/object.js";
import { resource } from "../../kinds/resource.js";
import { secureRequest } from "../../manager/endpoints/secure-request.testing.js";
import { plan } from "../../manager/plan.js";
import { preflight } from "../../manager/preflight.js";
import { rbacManifests, rbacRules } from "../../manager/rbac.js";
import { eventually, here, type IntegrationWorld } from "./integration-world.testing.js";

const ACCOUNT = "operator";
const Absent = resource("shop.integration.example/v1/Absent", { spec: z.object({}) });

const websites = (onError: (error: unknown) => void = () => {}) =>
  controller(Website, {
    owns: [ConfigMap],
    writes: ["status"],
    retry: { initial: "50ms", max: "500ms" },
    onError,
    async reconcile({ metadata: { name }, spec }, ctx) {
      await ctx.apply(ConfigMap, { metadata: { name }, data: { image: spec.image } });
      ctx.status({ phase: "Ready" });
    },
    finalize: () => {},
  });

export function managerSuite(given: () => IntegrationWorld): void {
  describe("managers", () => {
    const image = async (): Promise<string | undefined> => (await given().map("a"))?.data?.image;

    /** The account with exactly the controller's declared rules; the test creates the binding. */
    async function createAccount(): Promise<JsonObject> {
      const { client } = given();
      const manifests = rbacManifests(rbacRules([websites()]), { name: ACCOUNT, ...here });
      const kinds: Readonly<Record<string, Kind>> = { ServiceAccount, ClusterRole };
      for (const manifest of manifests) {
        const kind = kinds[manifest.kind as string];
        if (kind) await client.apply(kind, manifest as never);
      }
      return manifests.find(({ kind }) => kind === "ClusterRoleBinding")!;
    }

    it("let one of two processes work, and the other take over", async () => {
      const world = given();
      const declared = () => controller(Website, { reconcile: (_, ctx) => ctx.status({ phase: "Seen" }) });
      const options = { name: "suite", leaderElection: here };
      const first = await world.run([declared()], options);
      await eventually(() => expect(first.isLeading).toBe(true));
      const second = await world.run([declared()], options);
      await world.createSite("a");
      await eventually(async () => expect((await world.site("a"))?.status?.phase).toBe("Seen"));
      expect(second.isLeading).toBe(false);
      await first.stop();
      await eventually(() => expect(second.isLeading).toBe(true));
      await world.createSite("b");
      await eventually(async () => expect((await world.site("b"))?.status?.phase).toBe("Seen"));
    });

    it("work with the derived permissions, and go on when these are revoked and granted again", async () => {
      const world = given();
      const binding = await createAccount();
      await world.client.apply(ClusterRoleBinding, binding as never);
      const errors: unknown[] = [];
      const client = await world.connectAs(ACCOUNT);
      const manager = await world.run([websites((error) => errors.push(error))], { client });
      await world.createSite("a", "one");
      await eventually(async () => expect((await world.site("a"))?.status?.phase).toBe("Ready"));
      expect([await image(), errors]).toEqual(["one", []]);

      await world.client.delete(ClusterRoleBinding, ACCOUNT);
      await eventually(async () => expect((await preflight([websites()], { client })).length).toBeGreaterThan(0));
      await world.patchSite("a", { spec: { image: "two" } });
      await eventually(() => expect(errors.length).toBeGreaterThan(2));
      expect(errors[0]).toMatchObject({ code: "API_FORBIDDEN" });
      expect(await image()).toBe("one");

      await world.client.apply(ClusterRoleBinding, binding as never);
      await eventually(async () => expect(await image()).toBe("two"));
      expect(manager.trouble()).toEqual([]);
      await world.client.delete(Website, "a", here);
      await eventually(async () => expect(await world.site("a")).toBeUndefined());
      await world.client.delete(ClusterRoleBinding, ACCOUNT);
    });

    it("name what is not served or not allowed, and start it once it is", async () => {
      const world = given();
      const binding = await createAccount();
      const client = await world.connectAs(ACCOUNT);
      const absent = controller(Absent, { reconcile: () => {} });
      const findings = (await preflight([websites(), absent], { client })).map(({ message }) => message);
      expect(findings).toContain(
        "the server does not serve absents of shop.integration.example/v1: install its CustomResourceDefinition",
      );
      expect(findings.join("\n")).toMatch(/this account may not get, list, watch.* websites\.web\.example\.com,/);
      const manager = await world.run([websites()], { client });
      await world.createSite("a", "one");
      await eventually(() => expect(manager.trouble().join()).toMatch(/Website: .*API_FORBIDDEN/));
      await world.client.apply(ClusterRoleBinding, binding as never);
      await eventually(async () => expect(await image()).toBe("one"));
      expect(manager.trouble()).toEqual([]);
      await world.client.delete(ClusterRoleBinding, ACCOUNT);
    });

    it("show metrics and timeline to callers that the cluster's RBAC allows, each separately", async () => {
      const world = given();
      const { client } = world;
      const manager = await world.run([], { metrics: { host: "127.0.0.1", port: 0 }, metricsAccess: "rbac" });
      const name = "scraper";
      await client.create(ServiceAccount, { metadata: { name, ...here } });
      const authorization = `Bearer ${await world.tokenOf(name)}`;
      const get = async (path: string, headers: Record<string, string> = {}) =>
        (await secureRequest(`${manager.metricsUrl}${path}`, headers)).status;
      await eventually(() => expect(manager.metricsUrl).toBeDefined());
      expect(await get("/metrics")).toBe(401);
      expect(await get("/metrics", { authorization: "Bearer made-up" })).toBe(401);
      expect(await get("/metrics", { authorization })).toBe(403);
      const rules = [{ nonResourceURLs: ["/metrics"], verbs: ["get"] }];
      await client.create(ClusterRole, { metadata: { name }, rules });
      await client.create(ClusterRoleBinding, {
        metadata: { name },
        roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name },
        subjects: [{ kind: "ServiceAccount", name, ...here }],
      });
      await eventually(async () => expect(await get("/metrics", { authorization })).toBe(200));
      expect(await get("/timeline", { authorization })).toBe(403);
    });

    it("plan nothing at rest, and differences by field, without writing", async () => {
      const world = given();
      const { client } = world;
      const planned = async (): Promise<readonly string[]> => {
        const lines: string[] = [];
        for await (const run of plan([websites()], { client })) lines.push(...describePlan(run));
        return lines;
      };
      const manager = await world.run([websites()]);
      await world.createSite("a", "one");
      await eventually(async () => expect((await world.site("a"))?.status?.phase).toBe("Ready"));
      await manager.stop();
      expect(await planned()).toEqual([]);
      await client.patch(ConfigMap, "a", { type: "merge", body: { data: { image: "drift" } } }, here);
      await world.createSite("b", "two");
      expect(await planned()).toEqual([
        "web.example.com/v1/Website team/a",
        "  apply v1/ConfigMap team/a: data.image",
        "web.example.com/v1/Website team/b",
        "  finalizer web.example.com/v1/Website team/b: metadata.finalizers",
        "  apply v1/ConfigMap team/b: metadata",
        "  status web.example.com/v1/Website team/b: status.phase",
      ]);
      expect([await image(), await world.map("b")]).toEqual(["drift", undefined]);
    });
  });
}
