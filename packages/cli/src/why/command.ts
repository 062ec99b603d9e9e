import type { Command } from "setpoint/command";
import { clusterOptions, namespaceOption, outputOption } from "../objects/options.js";

export const whyCommand: Command = {
  name: "why",
  summary: "Explains the state of an object: the last runs of its controllers, and what they wait for.",
  usage: "KIND NAME [options]",
  allowsPositionals: true,
  options: {
    ...clusterOptions,
    namespace: namespaceOption,
    "data-dir": {
      type: "string",
      placeholder: "DIR",
      description: "the folder of `setpoint up` (default: .setpoint here or in a parent folder)",
    },
    url: {
      type: "string",
      placeholder: "URL",
      description: "asks the process with this --metrics-bind-address: http://127.0.0.1:8080",
    },
    pod: { type: "string", placeholder: "[NAMESPACE/]POD", description: "asks this pod, through the API server" },
    workload: {
      type: "string",
      placeholder: "[NAMESPACE/]KIND/NAME",
      description: "asks the pods of this deployment, statefulset or daemonset, through the API server",
    },
    "service-account": {
      type: "string",
      placeholder: "NAMESPACE/NAME",
      description:
        "asks with a token of this service account, which needs RBAC to get /timeline; needs --pod or --workload",
    },
    last: { type: "string", placeholder: "COUNT", description: "how many runs to show", default: "5" },
    follow: { type: "boolean", short: "f", description: "then prints each run as it ends, until Ctrl-C" },
    output: outputOption,
  },
  examples: [
    { text: "on a laptop with `setpoint up`", command: "setpoint why namespace shop" },
    { text: "from your own operator beside it", command: "setpoint why website shop --url http://127.0.0.1:8080" },
    { text: "in a cluster", command: "setpoint why namespace shop --pod setpoint-system/rancher-projects-0" },
    { text: "follow new runs", command: "setpoint why namespace shop --follow" },
  ],
  notes: [
    "Asks the process of `setpoint up` on this machine. With --kubeconfig, --context, --pod or --workload, or without such a process, asks",
    "the pods with the label app.kubernetes.io/managed-by=setpoint. Shows field paths, never values.",
    "",
    "Exit codes: 0 shown, 1 failed, no process found or no run of the object known, 2 wrong usage.",
  ],
  load: async () => (await import("./why.js")).runWhy,
};
