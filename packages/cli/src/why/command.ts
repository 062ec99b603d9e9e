import type { Command } from "setpoint/command";
import { clusterOptions, namespaceOption, outputOption } from "../objects/options.js";

export const whyCommand: Command = {
  name: "why",
  summary: "Tells why an object is as it is: the last runs of its controllers, and what they wait for.",
  usage: "KIND NAME [options]",
  allowsPositionals: true,
  options: {
    ...clusterOptions,
    namespace: namespaceOption,
    "data-dir": {
      type: "string",
      placeholder: "DIR",
      description: "the folder of `setpoint up` (default: the next .setpoint upwards)",
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
      description: "asks with a token of this account, which may get /timeline; needs --pod or --workload",
    },
    last: { type: "string", placeholder: "COUNT", description: "shows so many runs", default: "5" },
    follow: { type: "boolean", short: "f", description: "goes on with each run as it ends, until Ctrl-C" },
    output: outputOption,
  },
  examples: [
    { text: "on a laptop, where `setpoint up` runs", command: "setpoint why namespace shop" },
    { text: "of one's own operator beside it", command: "setpoint why website shop --url http://127.0.0.1:8080" },
    { text: "in a cluster", command: "setpoint why namespace shop --pod setpoint-system/rancher-projects-0" },
    { text: "as it happens", command: "setpoint why namespace shop --follow" },
  ],
  notes: [
    "Asks the process of `setpoint up` on this machine; with --kubeconfig, --context, --pod or --workload, or where none is found, the",
    "pods with the label app.kubernetes.io/managed-by=setpoint. Field paths are shown, never values.",
    "",
    "Exit codes: 0 shown, 1 failed, no process was found or it knows no run of the object, 2 wrong usage.",
  ],
  load: async () => (await import("./why.js")).runWhy,
};
