import { readFileSync } from "node:fs";
import { connect } from "setpoint";
import { type CommandContext, CommandError, UsageError } from "setpoint/command";
import type { ConfigMap } from "setpoint/kinds/v1";
import { parseAllDocuments, stringify } from "yaml";
import { type ChangePlan, planChange, planText } from "./cluster/change-plan.js";
import type { RolloutOrder } from "./cluster/order.js";
import { asLive, type LiveWorkload } from "./cluster/rollout.js";
import { planOnServer } from "./cluster/server-plan.js";
import { DEFAULT_SETTINGS, settingsOf } from "./cluster/settings.js";
import { notices, type Problem, validate } from "./cluster/validation.js";
import { Druid } from "./druid.js";
import { type Child, childrenOf, ownerOf, type RenderedCluster, render } from "./rendering/render.js";

interface Cluster {
  readonly druid: Druid;
  readonly rendered: RenderedCluster;
}

/** `setpoint druid render` */
export async function runRender(context: CommandContext): Promise<number> {
  const clusters = await readClusters(context, context.values.file);
  const items = clusters.flatMap(({ druid, rendered }) => childrenOf(rendered).map((child) => owned(child, druid)));
  const isJson = context.values.output === "json";
  const yaml = () => items.map((child) => stringify(child)).join("---\n");
  context.stdout(isJson ? JSON.stringify({ apiVersion: "v1", kind: "List", items }, null, 2) : yaml().trimEnd());
  return 0;
}

/** Adds the owner reference if the file has the owner's uid, because the hash covers it. */
function owned(child: Child, druid: Druid): Child {
  const owner = ownerOf(druid);
  return owner ? ({ ...child, metadata: { ...child.metadata, ownerReferences: [owner] } } as Child) : child;
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
  const before = old ? childrenOf(old.rendered) : [];
  const after = childrenOf(rendered).map((child) => {
    const group = rendered.groups.find(({ workload }) => workload === child);
    const live = before.find((each) => each.kind === child.kind && each.metadata.name === child.metadata.name);
    return { child: group && live ? asLive(group, live as unknown as LiveWorkload) : child, isWhole: true };
  });
  return planChange({ druid, groups: rendered.groups, before, after }, settingsOf(druid, defaults));
}

/** Reads the Druid objects of a file, sets defaults, validates and renders them. */
async function readClusters({ stdin, stderr }: CommandContext, path: unknown): Promise<readonly Cluster[]> {
  if (typeof path !== "string") throw new UsageError("-f FILE is required");
  const text = path === "-" ? await stdin() : readFileSync(path, "utf8");
  const documents = [...parseAllDocuments(text)].map((document) => {
    const problem = document.errors[0];
    if (problem) throw new UsageError(`${path}: ${problem.message}`);
    return (document.toJS() ?? {}) as Record<string, unknown>;
  });
  const maps = documents.filter(({ kind }) => kind === "ConfigMap") as unknown as readonly ConfigMap[];
  const found = documents.filter(({ kind, apiVersion }) => kind === Druid.kind && apiVersion === Druid.apiVersion);
  if (found.length === 0) throw new UsageError(`${path}: the file has no ${Druid.apiVersion} ${Druid.kind}`);
  return found.map((given) => {
    const stored = Druid.withDefaults(given as never) as unknown as Druid;
    const druid: Druid = {
      ...stored,
      metadata: { ...stored.metadata, namespace: stored.metadata.namespace ?? "default" },
    };
    const malformed = [...nameProblems(druid), ...Druid.validate(druid as never)];
    const problems = malformed.length > 0 ? malformed : validate(druid);
    if (problems.length > 0) {
      throw new CommandError(problems.map(({ path: field, message }) => `${path}: ${field}: ${message}`).join("\n"));
    }
    const schema = Druid.crd().spec.versions[0]!.schema?.openAPIV3Schema as Schema | undefined;
    for (const field of unknownFields(given.spec, schema?.properties?.spec, "spec")) {
      stderr(`${path}: ${field} is no field of a Druid, and left out`);
    }
    for (const notice of notices(druid)) stderr(`${path}: ${notice.path} ${notice.message}`);
    const extra = (druid.spec.extraCommonConfig ?? []).flatMap(({ name, namespace = druid.metadata.namespace }) => {
      const isMeant = ({ metadata }: ConfigMap): boolean =>
        metadata.name === name && (metadata.namespace ?? "default") === namespace;
      const map = maps.find(isMeant);
      const missing = `ConfigMap ${namespace}/${name} is not in the file, so the output lacks it`;
      if (!map) stderr(`${path}: spec.extraCommonConfig: ${missing}`);
      return map ? [map.data ?? {}] : [];
    });
    return { druid, rendered: render(druid, extra) };
  });
}

/** The API server checks names before anything else. */
function nameProblems({ metadata }: Druid): readonly Problem[] {
  if (/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/.test(metadata.name ?? "")) return [];
  const message = `must be lower-case letters, digits, dashes and dots, not ${JSON.stringify(metadata.name)}`;
  return [{ path: "metadata.name", message }];
}

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema;
  readonly items?: Schema;
  readonly "x-kubernetes-preserve-unknown-fields"?: boolean;
}

/** Paths of fields that the schema does not have. An API server drops them. */
function unknownFields(value: unknown, schema: Schema | undefined, path: string): readonly string[] {
  if (typeof value !== "object" || value === null || !schema) return [];
  if (Array.isArray(value)) return value.flatMap((each, at) => unknownFields(each, schema.items, `${path}[${at}]`));
  const { properties = {}, additionalProperties, "x-kubernetes-preserve-unknown-fields": isOpen } = schema;
  return Object.entries(value).flatMap(([key, each]) => {
    const inner = properties[key] ?? additionalProperties;
    const at = `${path}${key.includes(".") ? `["${key}"]` : `.${key}`}`;
    return inner || isOpen ? unknownFields(each, inner, at) : [at];
  });
}
