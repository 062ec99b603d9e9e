import type { Command, OptionValues, ReadyMadeOperator } from "setpoint/command";
import { UsageError } from "setpoint/command";
import type { AgentsOptions } from "./agents-app.js";

/** Loads the operator's code only when it is used, because every start of the CLI reads this description. */
const load = () => import("./index.js");

const translate: Command = {
  name: "translate",
  summary: "prints the configuration, the card and the objects that an Agent becomes",
  usage: "-f FILE [-o json|yaml]",
  options: {
    filename: {
      type: "string",
      short: "f",
      placeholder: "FILE",
      description: "the objects and the name of the Agent; - for standard input",
    },
    output: {
      type: "string",
      short: "o",
      placeholder: "FORMAT",
      description: "json or yaml",
      default: "json",
      choices: ["json", "yaml"],
    },
  },
  examples: [
    { text: "a file in the format of kagent's own tests", command: "setpoint agents translate -f agent.yaml -o json" },
  ],
  notes: [
    "The file has targetObject, namespace and a list of objects; proxyURL and defaultServiceAccountName are optional.",
    "Exit codes: 0 translated, 1 the Agent cannot be translated, 2 wrong usage.",
  ],
  load: async () => (await import("./translate-command.js")).runTranslate,
};

const API_PORT = 8083;
/** An environment variable, because every process of the machine could read a password in a flag. */
const DATABASE_VARIABLE = "SETPOINT_AGENTS_DATABASE";

export const agentsOperator: ReadyMadeOperator = {
  name: "agents",
  summary: "runs AI agents and their tool servers from kagent's objects",
  options: {
    database: {
      type: "string",
      placeholder: "URL",
      description: "postgres://…, or a SQLite file for a single replica; $SETPOINT_AGENTS_DATABASE takes precedence",
      default: "setpoint-agents.db",
    },
    "api-bind-address": {
      type: "string",
      placeholder: "ADDRESS",
      description: "the address of the REST API; 0 turns it off",
      default: "127.0.0.1:8083",
    },
    "watch-namespaces": { type: "string", placeholder: "A,B", description: "namespaces to watch (default: all)" },
    "refresh-interval": {
      type: "string",
      placeholder: "TIME",
      description: "how often to list the tools of servers again",
      default: "60s",
    },
    "proxy-url": {
      type: "string",
      placeholder: "URL",
      description: "the proxy through which agents reach internal servers",
    },
    "mcp-egress-plaintext": { type: "boolean", description: "makes agents call external servers in plain HTTP" },
    "default-service-account-name": {
      type: "string",
      placeholder: "NAME",
      description: "the service account of agents that name none",
    },
    "image-registry": { type: "string", placeholder: "HOST", description: "the registry of the agents' images" },
    "image-tag": { type: "string", placeholder: "TAG", description: "the tag of the agents' images" },
    "without-admission": {
      type: "boolean",
      description: "runs without the admission webhook, so the API server stores invalid objects",
    },
  },
  examples: [
    { text: "run on the cluster of the current kubeconfig", command: "setpoint run agents" },
    { text: "with several replicas", command: "setpoint run agents --leader-elect --database postgres://db/agents" },
  ],
  async start(values, env) {
    const { agents, openStore } = await load();
    const { systemClock } = await import("setpoint/clock");
    const isWithoutOptions = values.database === undefined;
    const store = await openStore(databaseOf(values, env), systemClock);
    const options = await optionsOf(values, env);
    const { serveApi } = await import("./rest-api.js");
    if (!isWithoutOptions)
      await serveApi({ store, namespaces: options.namespaces }, String(values["api-bind-address"]), values, env);
    return { loops: [agents({ ...options, store })] };
  },
  async loops() {
    const { agents, openStore } = await load();
    const { systemClock } = await import("setpoint/clock");
    return [agents({ store: await openStore(":memory:", systemClock) })];
  },
  kinds: async () => (await load()).agentKinds,
  async prepare(client) {
    const { installKinds, installSamples } = await import("./samples.js");
    await installKinds(client);
    await installSamples(client);
  },
  installation: (hasWebhookService) => ({
    args: [`--api-bind-address=:${API_PORT}`, ...(hasWebhookService ? [] : ["--without-admission"])],
    env: [
      { name: DATABASE_VARIABLE, valueFrom: { secretKeyRef: { name: "agents-database", key: "url" } } },
      { name: "KAGENT_NAMESPACE", valueFrom: { fieldRef: { fieldPath: "metadata.namespace" } } },
    ],
    ports: [{ name: "api", containerPort: API_PORT }],
    // Agents call the operator by this name.
    services: [{ name: "kagent-controller", port: API_PORT, targetPort: "api" }],
  }),
  tries: ["npx setpoint get agents", "npx setpoint get deployments", "npx setpoint why agent hello"],
  commands: [translate],
};

function databaseOf(values: OptionValues, env: Readonly<Record<string, string | undefined>>): string {
  // `up` passes no options. Its database can be rebuilt from the objects, so memory is enough.
  if (values.database === undefined) return ":memory:";
  const database = env[DATABASE_VARIABLE] || String(values.database);
  if (values["leader-elect"] === true && !/^postgres(ql)?:\/\//.test(database)) {
    throw new UsageError(
      "--leader-elect is for several replicas, and each would have its own SQLite file: give them one --database postgres://…",
    );
  }
  return database;
}

async function optionsOf(
  values: OptionValues,
  env: Readonly<Record<string, string | undefined>>,
): Promise<Omit<AgentsOptions, "store">> {
  const { goDurationMs } = await import("./translate/go-duration.js");
  const text = (name: string): string | undefined =>
    typeof values[name] === "string" ? String(values[name]) : undefined;
  const refreshMs = goDurationMs(text("refresh-interval") ?? "60s");
  if (refreshMs === undefined || refreshMs <= 0)
    throw new UsageError(`--refresh-interval ${values["refresh-interval"]}: expected a duration, such as 60s`);
  const environment = Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) =>
      name.startsWith("OTEL_") && value !== undefined ? [[name, value]] : [],
    ),
  );
  const namespaces = text("watch-namespaces")
    ?.split(",")
    .map((name) => name.trim());
  return {
    refresh: refreshMs,
    environment,
    ...(namespaces ? { namespaces } : {}),
    ...(text("proxy-url") ? { proxyUrl: text("proxy-url") } : {}),
    ...(text("default-service-account-name") ? { serviceAccountName: text("default-service-account-name") } : {}),
    ...(text("image-registry") ? { imageRegistry: text("image-registry")! } : {}),
    ...(text("image-tag") ? { imageTag: text("image-tag")! } : {}),
    plaintextEgress: values["mcp-egress-plaintext"] === true,
    admission: values["without-admission"] !== true,
    ...(env.KAGENT_UI_URL ? { uiUrl: env.KAGENT_UI_URL } : {}),
    ...(env.KAGENT_NAMESPACE ? { controllerNamespace: env.KAGENT_NAMESPACE } : {}),
  };
}
