import type { Command } from "setpoint/command";
import { outputOption } from "../objects/options.js";

export const upCommand: Command = {
  name: "up",
  summary: "Starts the embedded control plane and the ready-made operators on this machine.",
  usage: "[options]",
  options: {
    operators: { type: "string", placeholder: "A,B", description: "runs only these operators (default: all)" },
    port: {
      type: "string",
      placeholder: "PORT",
      description: "the port of the API on 127.0.0.1; 0 takes any free port",
      default: "6443",
    },
    "data-dir": {
      type: "string",
      placeholder: "DIR",
      description: "the folder that keeps all data between runs",
      default: ".setpoint",
    },
    workloads: {
      type: "string",
      placeholder: "A,B",
      description: "runs only these workload controllers; true runs all, false none",
      default: "true",
    },
    output: { ...outputOption, description: "prints what runs where as json or yaml, for scripts" },
  },
  examples: [
    { text: "everything, kept in .setpoint/", command: "setpoint up" },
    { text: "one operator, on any free port", command: "setpoint up --operators rancher-projects --port 0" },
  ],
  notes: [
    "Ctrl-C stops it. The next start continues with the same objects.",
    "",
    "Exit codes: 0 stopped, 1 failed, 2 wrong usage, 3 the port is in use or not allowed, 4 the data directory is unusable.",
  ],
  load: async () => (await import("./up.js")).runUp,
};
