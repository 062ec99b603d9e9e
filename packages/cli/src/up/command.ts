import type { Command } from "setpoint/command";
import { outputOption } from "../objects/options.js";

export const upCommand: Command = {
  name: "up",
  summary: "Starts the embedded control plane and the ready-made operators on this machine.",
  usage: "[options]",
  options: {
    operators: { type: "string", placeholder: "A,B", description: "runs these alone (default: all)" },
    port: {
      type: "string",
      placeholder: "PORT",
      description: "serves the API here, on 127.0.0.1; 0 takes any free port",
      default: "6443",
    },
    "data-dir": {
      type: "string",
      placeholder: "DIR",
      description: "keeps everything here between runs",
      default: ".setpoint",
    },
    workloads: {
      type: "string",
      placeholder: "A,B",
      description: "runs these workload controllers alone; true runs all, false none",
      default: "true",
    },
    output: { ...outputOption, description: "says what runs where as json or yaml, for scripts" },
  },
  examples: [
    { text: "everything, kept in .setpoint/", command: "setpoint up" },
    { text: "one operator, on any free port", command: "setpoint up --operators rancher-projects --port 0" },
  ],
  notes: [
    "Ctrl-C stops it; the next start goes on where it was.",
    "",
    "Exit codes: 0 stopped, 1 failed, 2 wrong usage, 3 the port cannot be had, 4 the data directory cannot be used.",
  ],
  load: async () => (await import("./up.js")).runUp,
};
