import type { Command } from "../command.js";
import { outputOption } from "../objects/options.js";
import { readyMadeOperators } from "../operators/ready-made.js";

export const runCommand: Command = {
  name: "run",
  summary: "Runs a ready-made operator against the cluster of the kubeconfig, or in the pod that it is in.",
  usage: "OPERATOR [options]",
  allowsPositionals: true,
  options: {
    kubeconfig: {
      type: "string",
      placeholder: "FILE",
      description: "the cluster to work on (default: KUBECONFIG, or in-cluster)",
    },
    context: { type: "string", placeholder: "NAME", description: "the kubeconfig's context to use" },
    "metrics-bind-address": {
      type: "string",
      placeholder: "HOST:PORT",
      description: "serves /metrics and /timeline here; 0 for nowhere",
      default: "127.0.0.1:8080",
    },
    "health-probe-bind-address": {
      type: "string",
      placeholder: "HOST:PORT",
      description: "serves /healthz, /livez and /readyz here; 0 for nowhere",
      default: ":8081",
    },
    "leader-elect": { type: "boolean", description: "lets one of several processes work, chosen by a Lease" },
    output: { ...outputOption, description: "says what runs where as json or yaml, for scripts" },
    ...Object.assign({}, ...readyMadeOperators.map(({ options }) => options)),
  },
  examples: [
    { text: "to see what it would do", command: "setpoint run rancher-projects --plan" },
    { text: "on the cluster of the current kubeconfig", command: "setpoint run rancher-projects --leader-elect" },
    {
      text: "with Rancher's management API elsewhere",
      command: "setpoint run rancher-projects --management-kubeconfig rancher.yaml",
    },
  ],
  notes: [
    "Operators:",
    ...readyMadeOperators.map(({ name, summary }) => `  ${name}: ${summary}`),
    "",
    "Exit codes: 0 stopped, 1 failed, 2 wrong usage.",
  ],
  load: async () => (await import("./run.js")).runOperator,
};
