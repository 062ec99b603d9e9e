import type { Command } from "setpoint/command";

const file = {
  type: "string",
  short: "f",
  placeholder: "FILE",
  description: "the Druid objects and the ConfigMaps of their extraCommonConfig; - for standard input",
} as const;

export const renderCommand: Command = {
  name: "render",
  summary: "Prints the children of Druid objects, without a server.",
  usage: "-f FILE [options]",
  options: {
    file,
    output: {
      type: "string",
      short: "o",
      placeholder: "FORMAT",
      description: "json or yaml",
      default: "yaml",
      choices: ["json", "yaml"],
    },
  },
  examples: [{ text: "the children of a cluster", command: "setpoint druid render -f cluster.yaml" }],
  notes: ["Exit codes: 0 printed, 1 an object is invalid, 2 wrong usage."],
  load: async () => (await import("./run-command.js")).runRender,
};

export const planCommand: Command = {
  name: "plan",
  summary: "Shows which groups a change would roll, in which order, and why.",
  usage: "-f NEW [--from OLD] [options]",
  options: {
    file,
    from: {
      type: "string",
      placeholder: "FILE",
      description: "the current objects (default: those of the cluster)",
    },
    kubeconfig: { type: "string", placeholder: "FILE", description: "the cluster to compare with" },
    context: { type: "string", placeholder: "NAME", description: "the kubeconfig's context to use" },
    "rollout-order": {
      type: "string",
      placeholder: "ORDER",
      description: "the operator's --rollout-order: seed, documentation or original",
      default: "seed",
      choices: ["seed", "documentation", "original"],
    },
    output: {
      type: "string",
      short: "o",
      placeholder: "FORMAT",
      description: "json or yaml, for scripts",
      choices: ["json", "yaml"],
    },
  },
  examples: [
    { text: "compare with the cluster", command: "setpoint druid plan -f cluster.yaml" },
    { text: "compare two files", command: "setpoint druid plan -f new.yaml --from old.yaml" },
  ],
  notes: ["Exit codes: 0 planned, 1 an object is invalid, 2 wrong usage."],
  load: async () => (await import("./run-command.js")).runPlan,
};
