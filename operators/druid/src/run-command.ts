import { readFileSync } from "node:fs";
import { connect } from "setpoint";
import { type CommandContext, CommandError, UsageError } from "setpoint/command";
import { ConfigMap } from "setpoint/kinds/v1";
import { parseAllDocuments, stringify } from "yaml";
import { planChange, planText } from "./cluster/change-plan.js";
import type { RolloutOrder } from "./cluster/order.js";
import { DEFAULT_SETTINGS, settingsOf } from "./cluster/settings.js";
import { validate } from "./cluster/validation.js";
import { Druid } from "./druid.js";
import { childrenOf, type RenderedCluster, render } from "./rendering/render.js";

interface Cluster {
  readonly druid: Druid;
  readonly rendered: RenderedCluster;
}

/** `setpoint druid render` */
export async function runRender(context: CommandContext): Promise<number> {
  const clusters = await readClusters(context, context.values.file);
  const children = clusters.flatMap(({ rendered }) => childrenOf(rendered));
  const isJson = context.values.output === "json";
  context.stdout(
    isJson
      ? JSON.stringify({ apiVersion: "v1", kind: "List", items: children }, null, 2)
      : children
          .map((child) => stringify(child))
          .join("---\n")
          .trimEnd(),
  );
  return 0;
}

/** `setpoint druid plan` */
export async function runPlan(context: CommandContext): Promise<number> {
  const { values, stdout } = context;
  const after = await readClusters(context, values.file);
  const before =
    values.from === undefined ? await readServer(context, after) : await readClusters(context, values.from);
  const defaults = { ...DEFAULT_SETTINGS, rolloutOrder: values["rollout-order"] as RolloutOrder };
  const plans = after.map((cluster) => {
    const old = before.find(({ druid }) => keyOf(druid) === keyOf(cluster.druid));
    return planChange(old, cluster, settingsOf(cluster.druid, defaults));
  });
  if (values.output === "json") stdout(JSON.stringify(plans, null, 2));
  else stdout(values.output === "yaml" ? stringify(plans).trimEnd() : plans.flatMap(planText).join("\n"));
  return 0;
}

function keyOf({ metadata }: Druid): string {
  return `${metadata.namespace}/${metadata.name}`;
}

/** The Druid objects of a file, with defaults, checked and rendered. */
async function readClusters({ stdin, stderr }: CommandContext, path: unknown): Promise<readonly Cluster[]> {
  if (typeof path !== "string") throw new UsageError("which file? Say: -f FILE");
  const text = path === "-" ? await stdin() : readFileSync(path, "utf8");
  const documents = [...parseAllDocuments(text)].map((document) => {
    const problem = document.errors[0];
    if (problem) throw new UsageError(`${path}: ${problem.message}`);
    return (document.toJS() ?? {}) as Record<string, unknown>;
  });
  const maps = documents.filter(({ kind }) => kind === "ConfigMap") as unknown as readonly ConfigMap[];
  const found = documents.filter(({ kind, apiVersion }) => kind === Druid.kind && apiVersion === Druid.apiVersion);
  if (found.length === 0) throw new UsageError(`${path}: there is no ${Druid.apiVersion} ${Druid.kind} in it`);
  return found.map((given) => {
    const stored = Druid.withDefaults(given as never) as unknown as Druid;
    const druid: Druid = {
      ...stored,
      metadata: { ...stored.metadata, namespace: stored.metadata.namespace ?? "default" },
    };
    const problems = [...Druid.validate(druid as never), ...(druid.spec?.nodes ? validate(druid) : [])];
    if (problems.length > 0) {
      throw new CommandError(problems.map(({ path: field, message }) => `${path}: ${field}: ${message}`).join("\n"));
    }
    const extra = (druid.spec.extraCommonConfig ?? []).flatMap(({ name, namespace = druid.metadata.namespace }) => {
      const map = maps.find(
        ({ metadata }) => metadata.name === name && (metadata.namespace ?? "default") === namespace,
      );
      if (!map)
        stderr(`${path}: spec.extraCommonConfig: ConfigMap ${namespace}/${name} is not in the file, and left out`);
      return map ? [map.data ?? {}] : [];
    });
    return { druid, rendered: render(druid, extra) };
  });
}

async function readServer({ values, env }: CommandContext, wanted: readonly Cluster[]): Promise<readonly Cluster[]> {
  const [kubeconfig, context] = [values.kubeconfig as string | undefined, values.context as string | undefined];
  await using client = await connect({ env, ...(kubeconfig ? { kubeconfig } : {}), ...(context ? { context } : {}) });
  const found = await Promise.all(
    wanted.map(async ({ druid: { metadata } }) => {
      const druid = await client.find(Druid, metadata.name, { namespace: metadata.namespace });
      if (!druid) return [];
      const refs = druid.spec.extraCommonConfig ?? [];
      const maps = await Promise.all(
        refs.map(({ name = "", namespace = metadata.namespace }) => client.find(ConfigMap, name, { namespace })),
      );
      // Hashes of the owner are left out of the comparison: a file has no uid.
      const { uid: _uid, ...bare } = druid.metadata;
      const old = { ...druid, metadata: bare } as Druid;
      return [
        {
          druid: old,
          rendered: render(
            old,
            maps.map((map) => map?.data ?? {}),
          ),
        },
      ];
    }),
  );
  return found.flat();
}
