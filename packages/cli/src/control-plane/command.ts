import type { Command } from "setpoint/command";
import { outputOption } from "../objects/options.js";

/** What `setpoint control-plane` says of itself; what it does is loaded when it is run. */
export const controlPlaneCommand: Command = {
  name: "control-plane",
  summary: "Runs the embedded Kubernetes API server alone, until it is interrupted.",
  usage: "[options]",
  options: {
    "data-dir": {
      type: "string",
      placeholder: "DIR",
      description: "keeps objects and credentials here (default: .setpoint/control-plane)",
    },
    ephemeral: { type: "boolean", description: "keeps all in memory, nothing on disk" },
    restore: {
      type: "string",
      placeholder: "FILE",
      description: "begins with the objects of this snapshot; the data directory must be empty",
    },
    save: {
      type: "string",
      placeholder: "FILE",
      description: "writes a snapshot of all objects here when it stops, for this user alone",
    },
    listen: {
      type: "string",
      placeholder: "HOST:PORT",
      description: "serves here; port 0 takes any free one",
      default: "127.0.0.1:6443",
    },
    kubeconfig: {
      type: "string",
      placeholder: "FILE",
      description: "writes the administrator's kubeconfig here, for this user alone",
      default: ".setpoint/kubeconfig",
    },
    workloads: {
      type: "string",
      placeholder: "A,B",
      description: "runs these workload controllers alone; true runs all, false none",
      default: "true",
    },
    "history-changes": {
      type: "string",
      placeholder: "COUNT",
      description:
        "remembers at most so many changes for watches that resume; at most five minutes of them in any case",
      default: "102400",
    },
    output: { ...outputOption, description: "says what runs where as json or yaml, for scripts" },
  },
  examples: [
    { text: "a server that keeps its objects", command: "setpoint control-plane --data-dir ./cluster" },
    {
      text: "one for a test: any free port, nothing kept",
      command: "setpoint control-plane --ephemeral --listen 127.0.0.1:0 --kubeconfig /tmp/kubeconfig",
    },
    { text: "then, elsewhere", command: "KUBECONFIG=.setpoint/kubeconfig kubectl get namespaces" },
  ],
  notes: [
    "When it is ready it prints one line with its address. SIGTERM and SIGINT stop it within two seconds; all that was",
    "acknowledged is kept.",
    "",
    "Exit codes: 0 stopped, 1 failed, 2 wrong usage, 3 the address cannot be had, 4 the data directory cannot be used.",
  ],
  load: async () => (await import("./control-plane.js")).runControlPlane,
};
