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
    { text: "print them", command: "setpoint crds src/websites.ts" },
    { text: "install them", command: "setpoint crds src/websites.ts | setpoint apply -f - --wait" },
    { text: "those of a ready-made operator", command: "setpoint crds druid" },
    {
      text: "with the conversion webhook of an app",
      command: "setpoint crds src/shop.ts --webhook-service shop-system/shop",
    },
  ],
  notes: [
    "The command imports the module. Keep `await run(…)` in another file, or call it only in the main program:",
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
  summary: "Prints the minimal RBAC of a module's controllers or of a ready-made operator.",
  usage: "FILE.ts... | OPERATOR [options]",
  allowsPositionals: true,
  options: {
    name: {
      type: "string",
      placeholder: "NAME",
      description:
        "the name of the ServiceAccount, roles, bindings and Lease, as in run(…, { name }) (default: that of the operator or file)",
    },
    namespace: {
      type: "string",
      short: "n",
      placeholder: "NAME",
      description: "the namespace of the ServiceAccount (default: setpoint-system)",
    },
    "leader-elect": {
      type: "boolean",
      description: "adds access to the Lease of leader election: that of --name, else any in the namespace",
    },
    "metrics-rbac": { type: "boolean", description: "adds the reviews that --metrics-access rbac needs" },
    install: { type: "boolean", description: "adds Namespace, Deployment and Service: a complete installation" },
    image: {
      type: "string",
      placeholder: "IMAGE",
      description:
        "the image of the Deployment: it runs the module, or for a ready-made operator its entry point is setpoint",
    },
    "webhook-service": webhookServiceOption,
    "management-cluster": {
      type: "boolean",
      description: "the rules for Rancher's management cluster, if it is a separate one",
    },
    output: format,
  },
  examples: [
    { text: "for your own controllers", command: "setpoint rbac src/websites.ts --name websites" },
    {
      text: "their complete installation, with the Service of their webhooks",
      command: "setpoint rbac src/main.ts --install --image IMAGE --webhook-service shop-system/shop",
    },
    {
      text: "the complete installation of a ready-made operator",
      command: "setpoint rbac rancher-projects --install --image IMAGE | setpoint apply -f -",
    },
  ],
  notes: [
    'A controller that writes kinds which it does not own declares it: uses: [scoped(Namespace, { writes: ["patch"] })].',
    "",
    EXIT_CODES,
  ],
  load: async () => (await import("./rbac.js")).runRbac,
};
