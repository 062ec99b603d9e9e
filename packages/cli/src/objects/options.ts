import type { CommandOption } from "setpoint/command";

/** Options of every command that talks to a cluster. */
export const clusterOptions = {
  kubeconfig: { type: "string", placeholder: "FILE", description: "the cluster (default: KUBECONFIG, or in-cluster)" },
  context: { type: "string", placeholder: "NAME", description: "the kubeconfig's context to use" },
} as const satisfies Readonly<Record<string, CommandOption>>;

export const namespaceOption: CommandOption = {
  type: "string",
  short: "n",
  placeholder: "NAME",
  description: "the namespace (default: that of the context)",
};

export const allNamespacesOption: CommandOption = { type: "boolean", short: "A", description: "all namespaces" };

export const selectorOption: CommandOption = {
  type: "string",
  short: "l",
  placeholder: "SELECTOR",
  description: "only objects with these labels: app=shop,tier!=cache",
};

export const outputOption: CommandOption = {
  type: "string",
  short: "o",
  placeholder: "FORMAT",
  description: "json or yaml, for scripts",
  choices: ["json", "yaml"],
};

export const fileOption: CommandOption = {
  type: "string",
  short: "f",
  placeholder: "FILE",
  multiple: true,
  description: "YAML or JSON, a folder of such files, or - for standard input; may be repeated",
};

export const timeoutOption: CommandOption = {
  type: "string",
  placeholder: "TIME",
  description: "how long --wait waits: 30s, 5m",
  default: "2m",
};
