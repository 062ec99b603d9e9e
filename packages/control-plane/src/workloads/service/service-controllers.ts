import { type Controller, controller, type Loop, scoped } from "setpoint";
import { EndpointSlice } from "setpoint/kinds/discovery.k8s.io/v1";
import { Endpoints, Node, Pod, Service } from "setpoint/kinds/v1";
import { unlessGone } from "../gone-object.js";
import { BY_CONTROLLER, CLAIM_INDEXES } from "../owner-claims.js";
import { unlessTerminating } from "../terminating-namespace.js";
import { isManaged, planSlices } from "./endpoint-slice-plan.js";
import { desiredEndpoints, MANAGER, MANAGER_LABEL } from "./endpoints-plan.js";
import { isMirrored, planMirror } from "./mirrored-slice-plan.js";

const COMMON = { fieldManager: "kube-controller-manager", retry: { attempts: Number.MAX_SAFE_INTEGER } } as const;

const SLICES = scoped(EndpointSlice, {
  namespaces: "all",
  indexes: { [BY_CONTROLLER]: CLAIM_INDEXES[BY_CONTROLLER] },
  writes: ["create", "patch", "delete"],
});

/** Manages the slices of every Service: from its pods, or from Endpoints that a client created for it. */
export function endpointSliceControllers(): readonly Loop[] {
  return [slicesOfServices(), slicesOfEndpoints()];
}

function slicesOfServices(): Controller<Service> {
  return controller(Service, {
    ...COMMON,
    name: "endpointslices",
    uses: [Pod, Node, SLICES],
    async reconcile(service, ctx) {
      const { namespace = "", uid } = service.metadata;
      const labelSelector = selectorOf(service);
      if (labelSelector === undefined) return;
      const pods = await ctx.list(Pod, { namespace, labelSelector });
      const nodes = new Map<string, Node>();
      for (const name of new Set(pods.flatMap(({ spec }) => spec?.nodeName ?? []))) {
        const node = await ctx.find(Node, name);
        if (node) nodes.set(name, node);
      }
      const existing = (await ctx.byIndex(EndpointSlice, { [BY_CONTROLLER]: uid })).filter(isManaged);
      const { create, change, remove } = planSlices(service, pods, nodes, existing);
      for (const slice of create) await unlessTerminating(() => ctx.create(EndpointSlice, slice));
      for (const { name, body } of change) {
        await unlessGone(() => ctx.patch(EndpointSlice, name, { type: "merge", body: body as never }, { namespace }));
      }
      for (const name of remove) await ctx.delete(EndpointSlice, name, { namespace });
    },
  });
}

const NOT_MIRRORED = "endpointslice.kubernetes.io/skip-mirror";
const LEADER = "control-plane.alpha.kubernetes.io/leader";

/** Mirrors the Endpoints of Services without a selector, which other clients manage, into slices. */
function slicesOfEndpoints(): Controller<Endpoints> {
  return controller(Endpoints, {
    ...COMMON,
    name: "mirrored-endpointslices",
    uses: [Service, SLICES],
    async reconcile(endpoints, ctx) {
      const { namespace = "", name, uid, labels, annotations } = endpoints.metadata;
      const service = await ctx.find(Service, name);
      const isWanted =
        service !== undefined &&
        service.spec?.selector === undefined &&
        labels?.[NOT_MIRRORED] !== "true" &&
        annotations?.[LEADER] === undefined;
      const existing = (await ctx.byIndex(EndpointSlice, { [BY_CONTROLLER]: uid })).filter(isMirrored);
      const { create, change, remove } = planMirror(endpoints, isWanted, existing);
      for (const slice of create) await unlessTerminating(() => ctx.create(EndpointSlice, slice));
      for (const { name: slice, body } of change) {
        await unlessGone(() => ctx.patch(EndpointSlice, slice, { type: "merge", body: body as never }, { namespace }));
      }
      for (const slice of remove) await ctx.delete(EndpointSlice, slice, { namespace });
    },
  });
}

/** Maintains the Endpoints of every Service with a selector, for clients that still read them. */
export function endpointsControllers(): readonly Loop[] {
  return [endpointsOfServices(), endpointsWithoutService()];
}

function endpointsOfServices(): Controller<Service> {
  return controller(Service, {
    ...COMMON,
    name: "endpoints",
    uses: [Pod, scoped(Endpoints, { writes: ["create", "patch", "delete"] })],
    async reconcile(service, ctx) {
      const { namespace = "", name } = service.metadata;
      const labelSelector = selectorOf(service);
      if (labelSelector === undefined) return;
      const { labels, subsets } = desiredEndpoints(service, await ctx.list(Pod, { namespace, labelSelector }));
      const existing = await ctx.find(Endpoints, name);
      if (!existing) {
        await unlessTerminating(() =>
          ctx.create(Endpoints, { metadata: { name, namespace, labels }, subsets } as never),
        );
        return;
      }
      const isSame =
        JSON.stringify(existing.subsets ?? []) === JSON.stringify(subsets ?? []) &&
        Object.entries(labels).every(([key, value]) => existing.metadata.labels?.[key] === value);
      if (isSame) return;
      const body = { metadata: { labels }, subsets: subsets as never };
      await unlessGone(() => ctx.patch(Endpoints, name, { type: "merge", body }, { namespace }));
    },
  });
}

/**
 * Deletes Endpoints without a Service. They have the Service's name but no owner reference, so the garbage collector
 * does not. Endpoints of other clients go with their Service too. If they never had one, they stay until the
 * controllers restart.
 */
function endpointsWithoutService(): Controller<Endpoints> {
  return controller(Endpoints, {
    ...COMMON,
    name: "orphaned-endpoints",
    uses: [Service],
    writes: ["delete"],
    async reconcile({ metadata: { name, uid, labels, annotations } }, ctx) {
      if (await ctx.find(Service, name)) return;
      const isOurs = labels?.[MANAGER_LABEL] === MANAGER;
      const isLeftBehind = ctx.causes.some(
        (cause) =>
          (cause.type === "dependency" && cause.change === "deleted") ||
          (cause.type === "created" && cause.isInInitialList && annotations?.[LEADER] === undefined),
      );
      if (isOurs || isLeftBehind) await ctx.delete(Endpoints, name, { preconditions: { uid } });
    },
  });
}

/** Undefined for a Service without a selector, whose endpoints other clients manage, and for type ExternalName. */
function selectorOf({ spec }: Service): string | undefined {
  const selector = Object.entries(spec?.selector ?? {});
  if (selector.length === 0 || spec?.type === "ExternalName") return undefined;
  return selector.map(([key, value]) => `${key}=${value}`).join(",");
}
