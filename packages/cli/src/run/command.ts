import type { Command, CommandGroup, ReadyMadeOperator } from "setpoint/command";
import { outputOption } from "../objects/options.js";
import { readyMadeOperators } from "../operators.js";

/**
 * The manager parses these itself; its other settings come from variables and `--config`. The descriptions are repeated
 * here, because help must not load `setpoint`.
 */
export const managerOptions: Command["options"] = {
  "metrics-access": {
    type: "string",
    placeholder: "WHO",
    description:
      "who may read metrics: callers on loopback, or callers that the cluster's RBAC allows (rbac) (default: loopback; in a pod rbac)",
    choices: ["loopback", "rbac"],
  },
  "metrics-secure": {
    type: "string",
    placeholder: "BOOL",
    description: "serves metrics over HTTPS: true or false (default: true with rbac)",
    choices: ["true", "false"],
  },
  "metrics-cert-path": {
    type: "string",
    placeholder: "DIR",
    description: "the folder with tls.crt and tls.key of the metrics (default: makes a self-signed certificate)",
  },
  "metrics-audiences": {
    type: "string",
    placeholder: "NAMES",
    description: "the accepted audiences of the tokens of metrics callers",
  },
  "log-level": {
    type: "string",
    placeholder: "LEVEL",
    description: "debug, info, warn or error (default: info)",
    choices: ["debug", "info", "warn", "error"],
  },
  "graceful-shutdown-timeout": {
    type: "string",
    placeholder: "DURATION",
    description: "how long a stop waits for reconciles to end (default: 30s)",
  },
};

const operatorOptions: Command["options"] = {
  kubeconfig: {
    type: "string",
    placeholder: "FILE",
    description: "the cluster to work on (default: KUBECONFIG, or in-cluster)",
  },
  context: { type: "string", placeholder: "NAME", description: "the kubeconfig's context to use" },
  "metrics-bind-address": {
    type: "string",
    placeholder: "HOST:PORT",
    description: "serves /metrics and /timeline here; 0 turns it off",
    default: "127.0.0.1:8080",
  },
  ...managerOptions,
  "health-probe-bind-address": {
    type: "string",
    placeholder: "HOST:PORT",
    description: "serves /healthz, /livez and /readyz here; 0 turns it off",
    default: ":8081",
  },
  "leader-elect": { type: "boolean", description: "elects one of several processes by a Lease; only the leader works" },
  plan: { type: "boolean", description: "prints what it would do, does nothing, and exits" },
  config: { type: "string", placeholder: "FILE", description: "a file with more settings, in YAML or JSON" },
  output: { ...outputOption, description: "prints what runs where as json or yaml, for scripts" },
};

function runCommand(operator: ReadyMadeOperator): Command {
  const { name, summary, options, examples = [] } = operator;
  return {
    name,
    summary,
    usage: "[options]",
    options: { ...operatorOptions, ...options },
    examples:
      examples.length > 0 ? examples : [{ text: "show what it would do", command: `setpoint run ${name} --plan` }],
    notes: ["Exit codes: 0 stopped, 1 failed, 2 wrong usage."],
    load: async () => {
      const { runOperator } = await import("./run-operator.js");
      return (context) => runOperator(operator, context);
    },
  };
}

/** `setpoint run OPERATOR` */
export const runGroup: CommandGroup = {
  name: "run",
  summary: "Runs a ready-made operator on the cluster of the kubeconfig, or in a pod.",
  commands: readyMadeOperators.map(runCommand),
};
