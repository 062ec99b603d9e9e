import type { Command } from "setpoint/command";
import { outputOption } from "../objects/options.js";

/** The description of `setpoint control-plane`; its code is loaded when it runs. */
export const controlPlaneCommand: Command = {
  name: "control-plane",
  summary: "Runs only the embedded Kubernetes API server, until you interrupt it.",
  usage: "[options]",
  options: {
    "data-dir": {
      type: "string",
      placeholder: "DIR",
      description: "the folder for objects and credentials (default: .setpoint/control-plane)",
    },
    ephemeral: { type: "boolean", description: "keeps everything in memory and nothing on disk" },
    restore: {
      type: "string",
      placeholder: "FILE",
      description: "starts with the objects of this snapshot; the data directory must be empty",
    },
    save: {
      type: "string",
      placeholder: "FILE",
      description: "writes a snapshot of all objects to this file when it stops; only this user can read it",
    },
    listen: {
      type: "string",
      placeholder: "HOST:PORT",
      description: "listens here; port 0 takes any free port",
      default: "127.0.0.1:6443",
    },
    kubeconfig: {
      type: "string",
      placeholder: "FILE",
      description: "writes the administrator's kubeconfig to this file; only this user can read it",
      default: ".setpoint/kubeconfig",
    },
    workloads: {
      type: "string",
      placeholder: "A,B",
      description: "runs only these workload controllers; true runs all, false none",
      default: "true",
    },
    "history-changes": {
      type: "string",
      placeholder: "COUNT",
      description: "keeps at most this many changes for watches that resume, and never more than five minutes of them",
      default: "102400",
    },
    output: { ...outputOption, description: "prints what runs where as json or yaml, for scripts" },
  },
  examples: [
    { text: "keep the objects in ./cluster", command: "setpoint control-plane --data-dir ./cluster" },
    {
      text: "for a test: any free port, everything in memory",
      command: "setpoint control-plane --ephemeral --listen 127.0.0.1:0 --kubeconfig /tmp/kubeconfig",
    },
    { text: "then, in another terminal", command: "KUBECONFIG=.setpoint/kubeconfig kubectl get namespaces" },
  ],
  notes: [
    "When it is ready it prints one line with its address. SIGTERM and SIGINT stop it within two seconds; it keeps every",
    "acknowledged write.",
    "",
    "Exit codes: 0 stopped, 1 failed, 2 wrong usage, 3 the address is in use or not allowed, 4 the data directory is unusable.",
  ],
  load: async () => (await import("./control-plane.js")).runControlPlane,
};
