import type { CommandOption, OptionValues, ReadyMadeOperator } from "setpoint/command";
import { planCommand, renderCommand } from "./commands.js";
import type { DruidOperatorOptions } from "./druid-operator.js";

const load = () => import("./index.js");

const text = (placeholder: string, description: string, more: Partial<CommandOption> = {}): CommandOption => ({
  type: "string",
  placeholder,
  description,
  ...more,
});

/** Logger flags of druid-operator. Accepted and ignored, so that its manifests still work. */
const zapOptions = Object.fromEntries(
  ["zap-devel", "zap-encoder", "zap-log-level", "zap-stacktrace-level", "zap-time-encoding"].map((flag) => [
    flag,
    text("VALUE", "accepted for compatibility with druid-operator, without effect; see --log-level"),
  ]),
);

export const druidOperator: ReadyMadeOperator = {
  name: "druid",
  summary: "runs Apache Druid clusters and ingestions",
  options: {
    "disable-ingestion-controller": { type: "boolean", description: "ignores DruidIngestion objects" },
    admission: { type: "boolean", description: "serves a webhook that refuses invalid objects" },
    "watch-namespace": text("NAMES", "the namespaces to watch (default: WATCH_NAMESPACE, or all)"),
    deny: text("NAMES", "namespaces to ignore (default: DENY_LIST)"),
    "druid-url": text("URL", "calls Druid here instead of at the router's Service, for example at a forwarded port"),
    "rollout-order": text(
      "ORDER",
      "the order in which a rollout updates groups: seed, documentation or original (default: seed)",
      {
        choices: ["seed", "documentation", "original"],
      },
    ),
    drift: text("POLICY", "what to do with children that others changed: revert or report (default: revert)", {
      choices: ["revert", "report"],
    }),
    "immutable-changes": text(
      "POLICY",
      "what to do with changes of immutable fields: refuse or recreate (default: refuse)",
      {
        choices: ["refuse", "recreate"],
      },
    ),
    "orphan-grace": text("DURATION", "how long to keep a volume that no pod needs (default: 60s)"),
    batch: text(
      "PODS",
      "asks Druid after every so many historicals or middle managers of a rollout; 0 for never (default: 1)",
    ),
    "drain-timeout": text("DURATION", "how long a middle manager may finish its tasks (default: 30m)"),
    "unanswered-timeout": text("DURATION", "how long a rollout waits for a Druid that does not answer (default: 2m)"),
    ...zapOptions,
  },
  examples: [
    { text: "show what it would do", command: "setpoint run druid --plan" },
    { text: "run in the cluster of the current kubeconfig", command: "setpoint run druid --leader-elect" },
  ],
  async start(values, env) {
    const options = await optionsOf(values, env);
    const { druidApp, druidControllers } = await load();
    return { loops: values.admission ? [druidApp(options)] : druidControllers(options) };
  },
  async plan(client, values, env) {
    const { planAll } = await import("./plan-all.js");
    return planAll(client, await optionsOf(values, env));
  },
  async loops() {
    return (await load()).druidControllers();
  },
  async prepare(client) {
    const { installCrd } = await import("setpoint/kinds");
    const { Druid, DruidIngestion } = await load();
    for (const kind of [Druid, DruidIngestion]) await installCrd(client, kind.crd());
  },
  tries: ["npx setpoint get druids", "npx setpoint druid render -f cluster.yaml"],
  commands: [renderCommand, planCommand],
};

async function optionsOf(
  values: OptionValues,
  env: Readonly<Record<string, string | undefined>>,
): Promise<DruidOperatorOptions> {
  const { DEFAULT_SETTINGS, readSetting } = await load();
  const { listOf, readEnvironment } = await import("./environment.js");
  const { UsageError } = await import("setpoint/command");
  const fromEnv = readEnvironment(env);
  const settings = (Object.keys(DEFAULT_SETTINGS) as (keyof typeof DEFAULT_SETTINGS)[]).flatMap((setting) => {
    const flag = setting.replace(/[A-Z]/g, (capital) => `-${capital.toLowerCase()}`);
    if (values[flag] === undefined) return [];
    try {
      return [[setting, readSetting(setting, String(values[flag]))]];
    } catch (cause) {
      throw new UsageError(`--${flag}: ${(cause as Error).message}`, { cause });
    }
  });
  const [watched, denied] = [listOf(values["watch-namespace"] as string), listOf(values.deny as string)];
  return {
    ...fromEnv,
    ...(watched.length > 0 ? { namespaces: watched } : {}),
    ...(denied.length > 0 ? { denied } : {}),
    ...Object.fromEntries(settings),
    druidUrl: values["druid-url"] as string | undefined,
    isWithoutIngestion: values["disable-ingestion-controller"] === true,
  };
}
