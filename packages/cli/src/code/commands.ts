import type { Command } from "setpoint/command";
import { outputOption } from "../objects/options.js";
import { webhookServiceOption } from "./webhook-service.js";

const format = { ...outputOption, description: "json or yaml", default: "yaml" };

const EXIT_CODES = "Exit codes: 0 printed, 1 failed, 2 wrong usage.";

export const crdsCommand: Command = {
  name: "crds",
  summary: "Prints the CustomResourceDefinitions of a module's kinds, or of a ready-made operator's.",
  usage: "FILE.ts... | OPERATOR [options]",
  allowsPositionals: true,
  options: { "webhook-service": webhookServiceOption, output: format },
  examples: [
    { text: "to look at", command: "setpoint crds src/websites.ts" },
    { text: "to install", command: "setpoint crds src/websites.ts | setpoint apply -f - --wait" },
    { text: "of a ready-made operator", command: "setpoint crds druid" },
    {
      text: "with versions that an app converts",
      command: "setpoint crds src/shop.ts --webhook-service shop-system/shop",
    },
  ],
  notes: [
    "The module is imported: keep `await run(…)` in another file, or run it only as the main program:",
    "  if (process.argv[1] === import.meta.filename) await run(websites);",
    "TypeScript needs Node 22.18 or later, or rolldown or esbuild beside the module.",
    "An app that converts puts its CA into the definition when it starts, unless webhooks.install is false.",
    "",
    EXIT_CODES,
  ],
  load: async () => (await import("./crds.js")).runCrds,
};

export const rbacCommand: Command = {
  name: "rbac",
  summary: "Prints the least RBAC that a module's controllers, or a ready-made operator, need.",
  usage: "FILE.ts... | OPERATOR [options]",
  allowsPositionals: true,
  options: {
    name: {
      type: "string",
      placeholder: "NAME",
      description:
        "of ServiceAccount, roles, bindings (default: the operator's, or the file's); and of the Lease, as in run(…, { name })",
    },
    namespace: {
      type: "string",
      short: "n",
      placeholder: "NAME",
      description: "where the ServiceAccount lives (default: setpoint-system)",
    },
    "leader-elect": {
      type: "boolean",
      description: "with the Lease of a leader election: that of --name, else any in the namespace",
    },
    "metrics-rbac": { type: "boolean", description: "with the reviews that metrics access by RBAC needs" },
    install: { type: "boolean", description: "with Namespace, Deployment and Service: all that installs it" },
    image: {
      type: "string",
      placeholder: "IMAGE",
      description:
        "of the Deployment: one that runs the module; of a ready-made operator, one whose entry point is setpoint",
    },
    "webhook-service": webhookServiceOption,
    "management-cluster": {
      type: "boolean",
      description: "the rules for Rancher's management cluster, where that is another one",
    },
    output: format,
  },
  examples: [
    { text: "of one's own controllers", command: "setpoint rbac src/websites.ts --name websites" },
    {
      text: "all that installs them, with the Service of their webhooks",
      command: "setpoint rbac src/main.ts --install --image IMAGE --webhook-service shop-system/shop",
    },
    {
      text: "all that installs a ready-made operator",
      command: "setpoint rbac rancher-projects --install --image IMAGE | setpoint apply -f -",
    },
  ],
  notes: [
    'A controller that writes kinds which it does not own says so: uses: [scoped(Namespace, { writes: ["patch"] })].',
    "",
    EXIT_CODES,
  ],
  load: async () => (await import("./rbac.js")).runRbac,
};
