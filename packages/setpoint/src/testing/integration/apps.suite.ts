import { request } from "node:https";
import { afterEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { type AdmissionRequest, mutating, validating } from "../../app/admission.js";
import { type AppOptions, app } from "../../app/app.js";
import { bookkeeping } from "../../app/bookkeeping.js";
import { RefusedError } from "../../app/refused-error.js";
import { kindRoute, versionRoute } from "../../app/routes/route.js";
import { controller } from "../../controller/controller.js";
import {
  MutatingWebhookConfiguration,
  ValidatingWebhookConfiguration,
} from "../../kinds/builtin/admissionregistration.k8s.io/v1.js";
import { ClusterRole, ClusterRoleBinding } from "../../kinds/builtin/rbac.authorization.k8s.io/v1.js";
import { ServiceAccount } from "../../kinds/builtin/v1.js";
import type { Kind } from "../../kinds/kind.js";
import { resource } from "../../kinds/resource.js";
import type { Manager } from "../../manager/manager.js";
import { preflight } from "../../manager/preflight.js";
import { rbacManifests, rbacRules } from "../../manager/rbac.js";
import { eventually, here, type IntegrationWorld } from "./integration-world.testing.js";

const Coupon = resource("shop.integration.example/v1/Coupon", {
  spec: z.object({ code: z.string(), percent: z.int() }),
  status: z.object({ used: z.int() }),
});
const OldCoupon = resource("shop.integration.example/v1beta1/Coupon", {
  spec: z.object({ code: z.string(), permille: z.int() }),
  status: z.object({ used: z.int() }),
});
const Coupons = Coupon.withVersion(OldCoupon, {
  up: ({ spec, status }) => ({ spec: { code: spec.code, percent: spec.permille / 10 }, ...(status && { status }) }),
  down: ({ spec, status }) => ({ spec: { code: spec.code, permille: spec.percent * 10 }, ...(status && { status }) }),
});
const Voucher = resource("shop.integration.example/v1/Voucher", { spec: z.object({ worth: z.int() }) });
const metadata = { ...here, name: "a" };

export function appSuite(given: () => IntegrationWorld): void {
  describe("apps", () => {
    afterEach(() => given().client.deleteCollection(Coupon, here));

    /** Runs an app of coupons until the test ends. */
    async function serve(parts: Partial<AppOptions>): Promise<Manager> {
      const manager = await given().run([app({ name: "coupons", kinds: [Coupons], ...parts })]);
      await eventually(() => expect(manager.isLeading).toBe(true));
      await untilAsked(manager, parts);
      return manager;
    }

    /** An API server calls webhooks a moment after it has stored them, and the previous ones until then. */
    async function untilAsked(manager: Manager, { validate, mutate }: Partial<AppOptions>): Promise<void> {
      const { client } = given();
      const probe = { ...here, name: "probe" };
      const wanted = [...(validate ? ["validate"] : []), ...(mutate ? ["mutate"] : [])];
      await eventually(async () => {
        await client.create(Coupon, { metadata: probe, spec: { code: "x", percent: 1 } }, { dryRun: true });
        await client.create(OldCoupon, { metadata: probe, spec: { code: "x", permille: 10 } }, { dryRun: true });
        const counted = manager.metrics.exposition();
        const isCounted = (review: string) => counted.includes(`webhook_requests_total{webhook="/coupons/${review}"`);
        expect(wanted.filter((review) => !isCounted(review))).toEqual([]);
      });
    }

    it("validate before an object is stored, with user, namespace, subresource and dry run", async () => {
      const { client } = given();
      const asked: Partial<AdmissionRequest>[] = [];
      const note = ({ operation, user, name, namespace, subresource, dryRun }: AdmissionRequest): void => {
        asked.push({ operation, name, namespace, subresource, dryRun });
        expect(user.groups).toContain("system:masters");
      };
      await serve({
        validate: [
          validating(Coupon, {
            subresources: ["status"],
            create({ spec }, review) {
              note(review);
              if (spec.percent > 50) throw new RefusedError(409, "Conflict", "not that much");
            },
            update: (_object, _old, review) => note(review),
            delete: (_old, review) => note(review),
          }),
        ],
      });
      asked.length = 0;
      const much = client.create(Coupon, { metadata, spec: { code: "x", percent: 60 } });
      await expect(much).rejects.toMatchObject({ status: 409, reason: "Conflict" });
      const spec = { code: "x", percent: 10 };
      await client.create(Coupon, { metadata, spec }, { dryRun: true });
      expect(await client.find(Coupon, "a", here)).toBeUndefined();
      await client.create(Coupon, { metadata, spec });
      const used = { type: "merge", body: { status: { used: 1 } } } as const;
      await client.patch(Coupon, "a", used, { ...here, subresource: "status" });
      await client.delete(Coupon, "a", here);
      const about = { name: "a", ...here, subresource: "", dryRun: false };
      expect(asked).toEqual([
        { ...about, operation: "CREATE" },
        { ...about, operation: "CREATE", dryRun: true },
        { ...about, operation: "CREATE" },
        { ...about, operation: "UPDATE", subresource: "status" },
        { ...about, operation: "DELETE" },
      ]);
    });

    it("default objects, record who created and changed them, and warn", async () => {
      const world = given();
      await serve({
        mutate: [
          mutating(Coupon, {
            create(coupon, review) {
              if (coupon.spec.percent > 30) review.warn(`${coupon.spec.percent} % is a lot`);
              return { ...coupon, spec: { ...coupon.spec, code: coupon.spec.code.toUpperCase() } };
            },
          }),
          bookkeeping(Coupon),
        ],
      });
      const warnings: string[] = [];
      await using client = await world.connect({ onWarning: (warning) => warnings.push(warning) });
      const made = await client.create(Coupon, { metadata, spec: { code: "spring", percent: 40 } });
      expect(made.spec.code).toBe("SPRING");
      expect(warnings).toEqual(["40 % is a lot"]);
      const by = made.metadata.annotations?.["setpoint.dev/createdBy"];
      expect(by).toMatch(/.+/);
      const changed = await client.patch(Coupon, "a", { type: "merge", body: { spec: { percent: 5 } } }, here);
      expect(changed.metadata.annotations).toMatchObject({
        "setpoint.dev/createdBy": by,
        "setpoint.dev/updatedBy": by,
        "setpoint.dev/updateTimestamp": expect.stringMatching(/Z$/),
      });
    });

    it("convert objects between versions, including lists and watches", async () => {
      const { client } = given();
      await serve({});
      await client.create(OldCoupon, { metadata, spec: { code: "x", permille: 150 } });
      expect((await client.get(Coupon, "a", here)).spec).toEqual({ code: "x", percent: 15 });
      await client.patch(Coupon, "a", { type: "merge", body: { spec: { percent: 20 } } }, here);
      const { items, resourceVersion } = await client.list(OldCoupon, here);
      expect(items.map(({ spec }) => spec)).toEqual([{ code: "x", permille: 200 }]);
      await client.patch(Coupon, "a", { type: "merge", body: { spec: { percent: 25 } } }, here);
      for await (const event of client.watch(OldCoupon, { ...here, resourceVersion })) {
        expect(event).toMatchObject({ type: "MODIFIED", object: { spec: { permille: 250 } } });
        break;
      }
    });

    it("answer custom routes below objects and versions", async () => {
      const { client } = given();
      const manager = await serve({
        validate: [validating(Coupon, { create: () => {} })],
        routes: [
          kindRoute(Coupon, {
            path: "worth",
            async handle({ name, namespace, signal }) {
              const { spec } = await client.get(Coupon, name, { namespace, signal });
              return { json: { percent: spec.percent } };
            },
          }),
          versionRoute("shop.integration.example/v1", "Cluster", { path: "season", handle: () => ({ json: "fall" }) }),
        ],
      });
      await client.create(Coupon, { metadata, spec: { code: "x", percent: 10 } });
      const { webhooks } = await client.get(ValidatingWebhookConfiguration, "coupons");
      const ca = Buffer.from(webhooks?.[0]?.clientConfig.caBundle ?? "", "base64");
      const ask = (path: string) => get(manager.webhookPort!, ca, `/apis/shop.integration.example/v1/${path}`);
      expect(await ask("namespaces/team/coupons/a/worth")).toEqual([200, { percent: 10 }]);
      expect(await ask("season")).toEqual([200, "fall"]);
      expect(await ask("namespaces/team/coupons/b/worth")).toMatchObject([404, { reason: "NotFound" }]);
    });

    it("are added to a running manager, work, and leave no webhook behind", async () => {
      const { client } = given();
      const seen: string[] = [];
      const coupons = app({
        name: "coupons",
        kinds: [Coupons],
        validate: [validating(Coupon, { create: () => {} })],
        loops: [controller(Coupon, { reconcile: ({ metadata: { name } }) => void seen.push(name) })],
      });
      const manager = await given().run([]);
      await manager.add(coupons);
      await untilAsked(manager, { validate: coupons.validators });
      await client.create(Coupon, { metadata, spec: { code: "x", percent: 10 } });
      await eventually(() => expect(seen).toEqual(["a"]));
      await manager.remove(coupons);
      expect((await client.list(ValidatingWebhookConfiguration)).items).toEqual([]);
    });

    it.each<[string, Partial<AppOptions>]>([
      ["a validator alone", { kinds: [Voucher], validate: [validating(Voucher, { create: () => {} })] }],
      ["a mutator alone", { kinds: [Voucher], mutate: [mutating(Voucher, { create: () => undefined })] }],
      ["a route alone", { kinds: [Voucher], routes: [kindRoute(Voucher, { path: "worth", handle: () => undefined })] }],
      ["conversion alone", {}],
    ])("start, are added, removed and stopped with the derived permissions, having %s", async (_, parts) => {
      const world = given();
      const coupons = app({ name: "coupons", kinds: [Coupons], ...parts });
      const account = "apps";
      const kinds: Readonly<Record<string, Kind>> = { ServiceAccount, ClusterRole, ClusterRoleBinding };
      const manifests = rbacManifests(rbacRules([coupons]), { name: account, ...here });
      for (const manifest of manifests)
        await world.client.apply(kinds[manifest.kind as string]!, manifest as never, { force: true });
      const client = await world.connectAs(account);
      await eventually(async () => expect(await preflight([coupons], { client })).toEqual([]));
      const manager = await world.run([coupons], { client });
      await eventually(() => expect([manager.isLeading, manager.webhookPort]).toEqual([true, expect.any(Number)]));
      await manager.remove(coupons);
      await manager.add(coupons);
      await manager.stop();
      expect((await world.client.list(ValidatingWebhookConfiguration)).items).toEqual([]);
      expect((await world.client.list(MutatingWebhookConfiguration)).items).toEqual([]);
      await world.client.delete(ClusterRoleBinding, account);
    });

    it("remove the finalizer of a kind that they gave up from its objects", async () => {
      const { client } = given();
      await serve({});
      const finalizers = ["example.com/old", "example.com/theirs"];
      await client.create(Coupon, { metadata: { ...metadata, finalizers }, spec: { code: "x", percent: 10 } });
      await given().run([
        app({
          name: "next",
          kinds: [],
          unmanaged: [Coupon],
          givenUp: [{ kind: Coupon, finalizer: "example.com/old" }],
        }),
      ]);
      const left = async () => (await client.get(Coupon, "a", here)).metadata.finalizers;
      await eventually(async () => expect(await left()).toEqual(["example.com/theirs"]));
      await client.patch(Coupon, "a", { type: "merge", body: { metadata: { finalizers: null } } }, here);
    });
  });
}

function get(port: number, ca: Buffer, path: string): Promise<readonly [number, unknown]> {
  return new Promise((resolve, reject) => {
    request({ host: "127.0.0.1", port, path, ca, agent: false }, async (response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of response as AsyncIterable<Buffer>) chunks.push(chunk);
      resolve([response.statusCode ?? 0, JSON.parse(Buffer.concat(chunks).toString("utf8"))]);
    })
      .on("error", reject)
      .end();
  });
}
