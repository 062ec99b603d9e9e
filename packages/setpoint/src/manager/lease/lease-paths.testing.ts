import { validating } from "../../app/admission.js";
import type { App } from "../../app/app.js";
import { app } from "../../app/app.js";
import { Order } from "../../app/app.testing.js";
import type { ReconcileContext } from "../../controller/context.js";
import { controller, scoped } from "../../controller/controller.js";
import type { Loop } from "../../controller/loop.js";
import { watcher } from "../../controller/watcher.js";
import { Website, type World } from "../../controller/world.testing.js";
import { ConfigMap, Event, ServiceAccount } from "../../kinds/builtin/v1.js";
import type { Kind } from "../../kinds/kind.js";
import { terminal } from "../../loop/outcome.js";
import type { LeaderProcess } from "./leader-process.testing.js";

/** One code path on which a process writes or reads for its controllers, watchers and apps. */
export interface Path {
  readonly loops?: (process: LeaderProcess) => readonly (Loop | App)[];
  /** The initial objects. */
  readonly given?: (world: World, process: LeaderProcess) => Promise<unknown>;
  /** Causes the request. */
  readonly when: (world: World, process: LeaderProcess) => Promise<unknown>;
  /** The request right before the end of the lease. */
  readonly after: string;
  readonly request: string;
  /** How long it may take until then. Defaults to one minute. */
  readonly lastsMs?: number;
  /** A request that the server refuses at first, so that the code retries. */
  readonly refused?: { readonly request: string; readonly status: number; readonly reason: string };
}

type Context = ReconcileContext<Website, Kind<Website> | typeof ConfigMap | typeof ServiceAccount, typeof ConfigMap>;

const team = { namespace: "team" };
const FINALIZER = "example.com/held";
export const ASKED = "GET configmaps/asked";
const elsewhere = scoped(ConfigMap, { namespaces: "all" });

/** A controller that first reads from the server, and then does the tested work. */
export const after = (work: (ctx: Context, site: Website) => unknown) => (): readonly (Loop | App)[] => [
  controller(Website, {
    owns: [ConfigMap],
    uses: [ServiceAccount],
    async reconcile(site, ctx) {
      await ctx.find(ConfigMap, "asked", { cached: false });
      await work(ctx as Context, site);
    },
  }),
];
export const create = (world: World): Promise<unknown> => world.createWebsite("a");
const change = (world: World): Promise<unknown> =>
  world.client.patch(Website, "a", { type: "merge", body: { spec: { replicas: 2 } } }, team);
const remove = (world: World): Promise<unknown> => world.client.delete(Website, "a", team);
const conflict = (request: string) => ({ request, status: 409, reason: "Conflict" });

const held = () => [controller(Website, { finalizer: FINALIZER, reconcile: () => {}, finalize: () => {} })];
const watched = ({ client }: LeaderProcess): readonly (Loop | App)[] => {
  const ask = (_: unknown, { signal }: { readonly signal: AbortSignal }) =>
    client.find(ConfigMap, "asked", { ...team, signal });
  return [watcher(Website, { finalizer: FINALIZER, add: ask, delete: ask })];
};
export const shop = app({ name: "shop", kinds: [Order] });
export const checked = app({
  name: "checked",
  kinds: [],
  unmanaged: [Order],
  validate: [validating(Order, { create: () => {} })],
});
const CONFIGURATION = "validatingwebhookconfigurations/checked";
const givenUp = app({ name: "former", kinds: [], givenUp: [{ kind: Website, finalizer: FINALIZER }] });
const HOUR_MS = 3_600_000;

export const PATHS: Readonly<Record<string, Path>> = {
  "ctx.apply": {
    loops: after((ctx) => ctx.apply(ConfigMap, { metadata: { name: "child" } })),
    ...{ when: create, after: ASKED, request: "PATCH configmaps/child" },
  },
  "ctx.apply, by force after a conflict": {
    loops: after((ctx) => ctx.apply(ConfigMap, { metadata: { name: "child" } })),
    refused: conflict("PATCH configmaps/child"),
    ...{ when: create, after: "GET configmaps/child", request: "PATCH configmaps/child" },
  },
  "ctx.apply in another cluster": {
    loops: () => [
      controller(Website, {
        owns: [scoped(ConfigMap, { cluster: "edge", namespaces: "all" })],
        reconcile: async (_, ctx) => void (await ctx.in("edge").apply(ConfigMap, { metadata: { name: "child" } })),
      }),
    ],
    ...{ when: create, after: "GET namespaces/kube-system", request: "PATCH configmaps/child" },
  },
  "ctx.create": {
    loops: after((ctx) => ctx.create(ConfigMap, { metadata: { name: "child" } })),
    ...{ when: create, after: ASKED, request: "POST configmaps" },
  },
  "ctx.patch": {
    loops: after((ctx) => ctx.patch(ConfigMap, "kube-root-ca.crt", { type: "merge", body: { data: { x: "1" } } })),
    ...{ when: create, after: ASKED, request: "PATCH configmaps/kube-root-ca.crt" },
  },
  "ctx.createSubresource": {
    loops: after((ctx) =>
      ctx.createSubresource(ServiceAccount, "default", { subresource: "token", body: { spec: {} } }),
    ),
    given: (world) => world.client.create(ServiceAccount, { metadata: { ...team, name: "default" } }).catch(() => {}),
    ...{ when: create, after: ASKED, request: "POST serviceaccounts/default/token" },
  },
  "ctx.delete": {
    loops: after((ctx) => ctx.delete(ConfigMap, "kube-root-ca.crt")),
    ...{ when: create, after: ASKED, request: "DELETE configmaps/kube-root-ca.crt" },
  },
  "ctx.prune": {
    loops: after((ctx, { spec }) =>
      spec.replicas ? ctx.prune() : ctx.apply(ConfigMap, { metadata: { name: "child" } }),
    ),
    ...{ given: create, when: change, after: ASKED, request: "DELETE configmaps/child" },
  },
  "ctx.find, not cached": {
    loops: after((ctx) => ctx.find(ConfigMap, "other", { cached: false })),
    ...{ when: create, after: ASKED, request: "GET configmaps/other" },
  },
  "ctx.list, not cached": {
    loops: after((ctx) => ctx.list(ConfigMap, { cached: false })),
    ...{ when: create, after: ASKED, request: "GET configmaps" },
  },
  "the status": {
    loops: after((ctx) => ctx.status({ phase: "Ready" })),
    ...{ when: create, after: ASKED, request: "PATCH websites/a/status" },
  },
  "the status, on a newer state": {
    loops: after((ctx) => ctx.status({ phase: "Ready" })),
    refused: conflict("PATCH websites/a/status"),
    ...{ when: create, after: "GET websites/a", request: "PATCH websites/a/status" },
  },
  "the status of a run that failed": {
    loops: after(() => Promise.reject(terminal(new Error("no disk")))),
    ...{ when: create, after: ASKED, request: "PATCH websites/a/status" },
  },
  "an event": {
    loops: after((ctx) => ctx.event("Normal", "Deployed", "it is there")),
    ...{ when: create, after: ASKED, request: "POST events" },
  },
  "an event, made anew": {
    loops: after((ctx) => ctx.event("Normal", "Deployed", "it is there")),
    given: create,
    when: async (world) => {
      const [event] = (await world.client.list(Event, team)).items;
      await world.client.delete(Event, event!.metadata.name, team);
      await change(world);
    },
    ...{ after: "PATCH events", request: "POST events" },
  },
  "the finalizer of a controller": {
    loops: held,
    refused: conflict("PATCH websites/a"),
    ...{ when: create, after: "GET websites/a", request: "PATCH websites/a" },
  },
  "the finalizer of a controller, taken off": {
    loops: () => [
      controller(Website, {
        uses: [ConfigMap],
        finalizer: FINALIZER,
        reconcile: () => {},
        finalize: async (_, ctx) => void (await ctx.find(ConfigMap, "asked", { cached: false })),
      }),
    ],
    ...{ given: create, when: remove, after: ASKED, request: "PATCH websites/a" },
  },
  "the finalizer of a watcher": {
    loops: watched,
    ...{ when: create, after: ASKED, request: "PATCH websites/a" },
  },
  "the finalizer of a watcher, taken off": {
    loops: watched,
    ...{ given: create, when: remove, after: ASKED, request: "PATCH websites/a" },
  },
  "the second finalizer of a watcher, taken off": {
    loops: watched,
    given: create,
    when: async (world) => {
      const body = { metadata: { finalizers: [FINALIZER, `${FINALIZER}-wip`] } };
      await world.client.patch(Website, "a", { type: "merge", body }, team);
      await remove(world);
    },
    ...{ after: "PATCH websites/a", request: "PATCH websites/a" },
  },
  "the finalizer of a kind that an app has given up": {
    given: (world) =>
      world.client.create(Website, {
        metadata: { ...team, name: "a", finalizers: [FINALIZER] },
        spec: { image: "nginx" },
      }),
    when: (_, { manager }) => manager.add(givenUp),
    ...{ after: "GET websites", request: "PATCH websites/a" },
  },
  "the orphans of an object that is gone": {
    loops: () => [
      controller(Website, {
        owns: [elsewhere],
        reconcile: async (_, ctx) =>
          void (await ctx.apply(ConfigMap, { metadata: { name: "child", namespace: "other" } })),
      }),
    ],
    ...{ given: create, when: remove, after: "GET websites/a", request: "DELETE configmaps/child" },
  },
  "the definition of a kind": {
    when: (_, { manager }) => manager.add(shop),
    after: "GET customresourcedefinitions/orders.shop.example.com",
    request: "POST customresourcedefinitions",
  },
  "the certificate of webhooks": {
    when: (_, { manager }) => manager.add(checked),
    ...{ after: "GET secrets/hooks-webhook-certificate", request: "POST secrets" },
  },
  "the webhooks of an app": {
    when: (_, { manager }) => manager.add(checked),
    ...{ after: `GET ${CONFIGURATION}`, request: `PATCH ${CONFIGURATION}` },
  },
  "the webhooks of an app, put back": {
    given: (_, { manager }) => manager.add(checked),
    when: async () => {},
    lastsMs: HOUR_MS,
    ...{ after: `GET ${CONFIGURATION}`, request: `PATCH ${CONFIGURATION}` },
  },
  "the webhooks of an app, uninstalled": {
    given: (_, { manager }) => manager.add(checked),
    when: (_, { manager }) => manager.remove(checked),
    ...{ after: `GET ${CONFIGURATION}`, request: `DELETE ${CONFIGURATION}` },
  },
};
