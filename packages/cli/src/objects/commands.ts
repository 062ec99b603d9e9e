import type { Command } from "setpoint/command";
import {
  allNamespacesOption,
  clusterOptions,
  fileOption,
  namespaceOption,
  outputOption,
  selectorOption,
  timeoutOption,
} from "./options.js";

const getCommand: Command = {
  name: "get",
  summary: "Shows objects: a table, or all of them as JSON or YAML.",
  usage: "KIND [NAME...] [options]",
  allowsPositionals: true,
  options: {
    ...clusterOptions,
    namespace: namespaceOption,
    "all-namespaces": allNamespacesOption,
    selector: selectorOption,
    output: outputOption,
    watch: { type: "boolean", short: "w", description: "then shows a row for each change, until Ctrl-C" },
  },
  examples: [
    { text: "every namespace", command: "setpoint get namespaces" },
    { text: "one, whole", command: "setpoint get namespace shop -o yaml" },
    { text: "by label, and what becomes of them", command: "setpoint get deployments -A -l app=shop -w" },
  ],
  notes: ["Exit codes: 0 shown, 1 failed or not there, 2 wrong usage."],
  load: async () => (await import("./get.js")).runGet,
};

const describeCommand: Command = {
  name: "describe",
  summary: "Shows one object for people: metadata, spec, status, conditions and events.",
  usage: "KIND NAME [options]",
  allowsPositionals: true,
  options: { ...clusterOptions, namespace: namespaceOption, output: outputOption },
  examples: [
    { text: "a namespace", command: "setpoint describe namespace shop" },
    { text: "object and events for a script", command: "setpoint describe deployment web -n shop -o json" },
  ],
  notes: ["Values of Secrets are never shown.", "", "Exit codes: 0 shown, 1 failed or not there, 2 wrong usage."],
  load: async () => (await import("./describe.js")).runDescribe,
};

const applyCommand: Command = {
  name: "apply",
  summary: "Makes objects as files state them, by server-side apply.",
  usage: "-f FILE [options]",
  options: {
    ...clusterOptions,
    namespace: namespaceOption,
    filename: fileOption,
    wait: { type: "boolean", description: "until all are ready: conditions Ready, Available or Established, replicas" },
    timeout: timeoutOption,
    "force-conflicts": { type: "boolean", description: "takes over fields that others manage" },
    "dry-run": { type: "boolean", description: "lets the server check all and keep nothing" },
    output: outputOption,
  },
  examples: [
    { text: "a file, until what it states is ready", command: "setpoint apply -f shop.yaml --wait" },
    { text: "a folder, in the order of its names", command: "setpoint apply -f manifests/" },
    {
      text: "from a pipe",
      command: `echo '{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"shop"}}' | setpoint apply -f -`,
    },
  ],
  notes: [
    "Says of each object whether it was created, configured or unchanged. The field manager is setpoint-cli.",
    "",
    "Exit codes: 0 applied (and ready, with --wait), 1 failed or not ready in time, 2 wrong usage.",
  ],
  load: async () => (await import("./apply.js")).runApply,
};

const deleteCommand: Command = {
  name: "delete",
  summary: "Deletes objects by name or as files state them.",
  usage: "KIND NAME... | -f FILE [options]",
  allowsPositionals: true,
  options: {
    ...clusterOptions,
    namespace: namespaceOption,
    filename: fileOption,
    wait: { type: "boolean", description: "until they are gone" },
    timeout: timeoutOption,
    "ignore-not-found": { type: "boolean", description: "what is not there is as good as deleted" },
    output: outputOption,
  },
  examples: [
    { text: "a namespace, until it is gone", command: "setpoint delete namespace shop --wait" },
    { text: "all that a file states", command: "setpoint delete -f shop.yaml --ignore-not-found" },
  ],
  notes: ["Exit codes: 0 deleted (and gone, with --wait), 1 failed, not there or not gone in time, 2 wrong usage."],
  load: async () => (await import("./delete.js")).runDelete,
};

const watchCommand: Command = {
  name: "watch",
  summary: "Shows objects and each change of them, until it is interrupted.",
  usage: "KIND [NAME] [options]",
  allowsPositionals: true,
  options: {
    ...clusterOptions,
    namespace: namespaceOption,
    "all-namespaces": allNamespacesOption,
    selector: selectorOption,
    output: { ...outputOption, description: "json (one object a line) or yaml (one document each), for scripts" },
  },
  examples: [
    { text: "namespaces as they come and go", command: "setpoint watch namespaces" },
    { text: "one object, as JSON lines", command: "setpoint watch namespace shop -o json" },
  ],
  notes: ["Exit codes: 0 interrupted, 1 failed, 2 wrong usage."],
  load: async () => (await import("./get.js")).runWatch,
};

const eventsCommand: Command = {
  name: "events",
  summary: "Shows events, the newest last: of one object, of a namespace or of all.",
  usage: "[KIND NAME] [options]",
  allowsPositionals: true,
  options: {
    ...clusterOptions,
    namespace: namespaceOption,
    "all-namespaces": allNamespacesOption,
    output: outputOption,
  },
  examples: [
    { text: "of one object", command: "setpoint events namespace shop" },
    { text: "of all namespaces", command: "setpoint events -A" },
  ],
  notes: ["Exit codes: 0 shown, 1 failed, 2 wrong usage."],
  load: async () => (await import("./events.js")).runEvents,
};

/** What does for kubectl on a laptop. */
export const objectCommands: readonly Command[] = [
  getCommand,
  describeCommand,
  applyCommand,
  deleteCommand,
  watchCommand,
  eventsCommand,
];
