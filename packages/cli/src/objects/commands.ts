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
  summary: "Shows objects as a table, JSON or YAML.",
  usage: "KIND [NAME...] [options]",
  allowsPositionals: true,
  options: {
    ...clusterOptions,
    namespace: namespaceOption,
    "all-namespaces": allNamespacesOption,
    selector: selectorOption,
    output: outputOption,
    watch: { type: "boolean", short: "w", description: "then prints a row for each change, until Ctrl-C" },
  },
  examples: [
    { text: "all namespaces", command: "setpoint get namespaces" },
    { text: "one namespace as YAML", command: "setpoint get namespace shop -o yaml" },
    { text: "by label, and their changes", command: "setpoint get deployments -A -l app=shop -w" },
  ],
  notes: ["Exit codes: 0 shown, 1 failed or not found, 2 wrong usage."],
  load: async () => (await import("./get.js")).runGet,
};

const describeCommand: Command = {
  name: "describe",
  summary: "Describes one object: metadata, spec, status, conditions and events.",
  usage: "KIND NAME [options]",
  allowsPositionals: true,
  options: { ...clusterOptions, namespace: namespaceOption, output: outputOption },
  examples: [
    { text: "a namespace", command: "setpoint describe namespace shop" },
    { text: "the object and its events as JSON", command: "setpoint describe deployment web -n shop -o json" },
  ],
  notes: ["It never shows the values of Secrets.", "", "Exit codes: 0 shown, 1 failed or not found, 2 wrong usage."],
  load: async () => (await import("./describe.js")).runDescribe,
};

const applyCommand: Command = {
  name: "apply",
  summary: "Creates or updates the objects of files by server-side apply.",
  usage: "-f FILE [options]",
  options: {
    ...clusterOptions,
    namespace: namespaceOption,
    filename: fileOption,
    wait: {
      type: "boolean",
      description: "waits until all are ready: conditions Ready, Available or Established, replicas",
    },
    timeout: timeoutOption,
    "force-conflicts": { type: "boolean", description: "takes over fields of other field managers" },
    "dry-run": { type: "boolean", description: "makes the server validate the objects without storing them" },
    output: outputOption,
  },
  examples: [
    { text: "a file, and wait until its objects are ready", command: "setpoint apply -f shop.yaml --wait" },
    { text: "a folder, in the order of file names", command: "setpoint apply -f manifests/" },
    {
      text: "from a pipe",
      command: `echo '{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"shop"}}' | setpoint apply -f -`,
    },
  ],
  notes: [
    "Prints for each object whether it was created, configured or unchanged. The field manager is setpoint-cli.",
    "",
    "Exit codes: 0 applied (and ready, with --wait), 1 failed or not ready in time, 2 wrong usage.",
  ],
  load: async () => (await import("./apply.js")).runApply,
};

const deleteCommand: Command = {
  name: "delete",
  summary: "Deletes objects by name, or the objects of files.",
  usage: "KIND NAME... | -f FILE [options]",
  allowsPositionals: true,
  options: {
    ...clusterOptions,
    namespace: namespaceOption,
    filename: fileOption,
    wait: { type: "boolean", description: "waits until they are gone" },
    timeout: timeoutOption,
    "ignore-not-found": { type: "boolean", description: "treats a missing object as deleted" },
    output: outputOption,
  },
  examples: [
    { text: "a namespace, and wait until it is gone", command: "setpoint delete namespace shop --wait" },
    { text: "the objects of a file", command: "setpoint delete -f shop.yaml --ignore-not-found" },
  ],
  notes: ["Exit codes: 0 deleted (and gone, with --wait), 1 failed, not found or not gone in time, 2 wrong usage."],
  load: async () => (await import("./delete.js")).runDelete,
};

const watchCommand: Command = {
  name: "watch",
  summary: "Shows objects and each of their changes, until you interrupt it.",
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
  summary: "Shows the events of one object, one namespace or all namespaces, the newest last.",
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
