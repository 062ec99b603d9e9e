import {
  type Controller,
  controller,
  findCondition,
  type JsonObject,
  type ReconcileContext,
  requeueAfter,
  retry,
} from "setpoint";
import { Secret } from "setpoint/kinds/v1";
import { validate } from "../cluster/validation.js";
import { Druid } from "../druid.js";
import { DRUID_CONCURRENCY, type DruidLoopOptions } from "./druid-loop.js";
import { accessOf } from "./endpoint.js";
import { includes } from "./subset.js";

const COORDINATOR = "/druid/coordinator/v1/config";
const WORKER = "/druid/indexer/v1/worker";
const IGNORED_KEYS = "KeysIgnored";

/** The desired dynamic configurations by API path. A node group's configuration overrides the cluster's. */
export function wantedConfigs({ spec }: Druid): ReadonlyMap<string, JsonObject> {
  const wanted = new Map<string, JsonObject>();
  if (spec.dynamicConfig) wanted.set(COORDINATOR, spec.dynamicConfig as JsonObject);
  for (const key of Object.keys(spec.nodes).sort()) {
    const { nodeType, dynamicConfig } = spec.nodes[key]!;
    if (dynamicConfig) wanted.set(nodeType === "coordinator" ? COORDINATOR : WORKER, dynamicConfig as JsonObject);
  }
  return wanted;
}

/** Syncs dynamic configurations to Druid. A controller of its own, so that child objects never wait for Druid. */
export function dynamicConfigs({ api, urlOf, ignores, namespaces, pollInterval }: DruidLoopOptions): Controller<Druid> {
  return controller(Druid, {
    name: "druid-dynamic-config",
    conditions: "optional",
    uses: [Secret],
    namespaces,
    ignores: (druid) => wantedConfigs(druid).size === 0 || ignores(druid),
    concurrency: DRUID_CONCURRENCY,
    when: { changed: ["spec", "metadata.annotations"] },
    async reconcile(druid, ctx) {
      const wanted = wantedConfigs(druid);
      if (validate(druid).length > 0) return;
      const url = urlOf(druid);
      if (url === undefined)
        return failed(
          ctx,
          "DruidAPIGetRouterSvcUrlFailed",
          new Error("router svc discovery fail: no router has a Service"),
        );
      const access = await accessOf(druid, druid.spec.auth, url, ctx).catch((error: Error) => error);
      if (access instanceof Error) return failed(ctx, "DruidAPIGetAuthCredsFailed", access);
      const before = findCondition(druid.status?.conditions, "ConfigSynced");
      const wasIgnored = before?.reason === IGNORED_KEYS && before.observedGeneration === druid.metadata.generation;
      const ignored: string[] = [];
      for (const [path, config] of wanted) {
        try {
          if (includes((await api.get(access, path, ctx.signal)) ?? {}, config)) continue;
        } catch (error) {
          return failed(ctx, "DruidAPIFetchCurrentConfigsFailed", error as Error);
        }
        if (!wasIgnored) {
          try {
            await ctx.effect(`POST ${path}`, (signal) => api.post(access, path, config, signal), { planned: {} });
          } catch (error) {
            return failed(ctx, "DruidAPIUpdateConfigsFailed", error as Error);
          }
          ctx.event("Normal", "DruidAPIUpdateConfigsSuccess", `${path}: updated`);
        }
        // Druid silently drops unknown fields. Report them, or every run would send them again.
        const now = ((await api.get(access, path, ctx.signal)) ?? {}) as JsonObject;
        const dropped = Object.keys(config).filter((key) => !includes(now[key], config[key]));
        if (dropped.length > 0) ignored.push(`${path}: ${dropped.join(", ")}`);
      }
      ctx.condition(
        ignored.length > 0
          ? {
              type: "ConfigSynced",
              status: "False",
              reason: IGNORED_KEYS,
              message: `Druid does not take ${ignored.join("; ")}`,
            }
          : { type: "ConfigSynced", status: "True", reason: "Synced", message: "" },
      );
      return requeueAfter(pollInterval);
    },
  });
}

function failed(ctx: ReconcileContext<Druid>, reason: string, error: Error) {
  ctx.event("Warning", reason, error.message);
  ctx.condition({ type: "ConfigSynced", status: "False", reason, message: error.message });
  return retry(error);
}
