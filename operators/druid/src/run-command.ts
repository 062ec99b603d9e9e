import { readFileSync } from "node:fs";
import { connect } from "setpoint";
import { type CommandContext, CommandError, UsageError } from "setpoint/command";
import type { ConfigMap } from "setpoint/kinds/v1";
import { parseAllDocuments, stringify } from "yaml";
import { type ChangePlan, planChange, planText } from "./cluster/change-plan.js";
import type { RolloutOrder } from "./cluster/order.js";
import { planOnServer } from "./cluster/server-plan.js";
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
  const items = clusters.flatMap(({ rendered }) => childrenOf(rendered));
  const isJson = context.values.output === "json";
  const yaml = () => items.map((child) => stringify(child)).join("---\n");
  context.stdout(isJson ? JSON.stringify({ apiVersion: "v1", kind: "List", items }, null, 2) : yaml().trimEnd());
  return 0;
}

/** `setpoint druid plan` */
export async function runPlan(context: CommandContext): Promise<number> {
  const { values, stdout, env } = context;
  const after = await readClusters(context, values.file);
  const defaults = { ...DEFAULT_SETTINGS, rolloutOrder: values["rollout-order"] as RolloutOrder };
  const plans: ChangePlan[] = [];
  if (values.from === undefined) {
    const [kubeconfig, chosen] = [values.kubeconfig as string | undefined, values.context as string | undefined];
    await using client = await connect({
      env,
      ...(kubeconfig ? { kubeconfig } : {}),
      ...(chosen ? { context: chosen } : {}),
    });
    for (const { druid } of after) plans.push(await planOnServer(client, druid, defaults));
  } else {
    const old = await readClusters(context, values.from);
    plans.push(...after.map((cluster) => planOffline(old, cluster, defaults)));
  }
  if (values.output === "json") stdout(JSON.stringify(plans, null, 2));
  else stdout(values.output === "yaml" ? stringify(plans).trimEnd() : plans.flatMap(planText).join("\n"));
  return 0;
}

function planOffline(all: readonly Cluster[], { druid, rendered }: Cluster, defaults: typeof DEFAULT_SETTINGS) {
  const isSame = ({ metadata: { name, namespace } }: Druid): boolean =>
    name === druid.metadata.name && namespace === druid.metadata.namespace;
  const old = all.find((each) => isSame(each.druid));
  const after = childrenOf(rendered).map((child) => ({ child, isWhole: true }));
  const before = old ? childrenOf(old.rendered) : [];
  return planChange({ druid, groups: rendered.groups, before, after }, settingsOf(druid, defaults));
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
      const isMeant = ({ metadata }: ConfigMap): boolean =>
        metadata.name === name && (metadata.namespace ?? "default") === namespace;
      const map = maps.find(isMeant);
      const missing = `ConfigMap ${namespace}/${name} is not in the file, and left out`;
      if (!map) stderr(`${path}: spec.extraCommonConfig: ${missing}`);
      return map ? [map.data ?? {}] : [];
    });
    return { druid, rendered: render(druid, extra) };
  });
}
