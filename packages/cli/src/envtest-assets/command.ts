import type { Command } from "setpoint/command";

/** The description of `setpoint envtest-assets`; its code is loaded when it runs. */
export const envtestAssetsCommand: Command = {
  name: "envtest-assets",
  summary: "Writes a folder for KUBEBUILDER_ASSETS, so that Go tests run on the embedded control plane.",
  usage: "DIR",
  options: {
    output: {
      type: "string",
      short: "o",
      placeholder: "FORMAT",
      description: "prints the path of the folder as json or yaml, for scripts",
      choices: ["json", "yaml"],
    },
  },
  allowsPositionals: true,
  examples: [
    {
      text: "then, in a project that uses controller-runtime's envtest",
      command: "setpoint envtest-assets ./assets && KUBEBUILDER_ASSETS=$PWD/assets go test ./...",
    },
  ],
  notes: [
    "The folder has three scripts that start this installation of setpoint:",
    "  etcd            answers health checks; the API server stores its data in the data directory of etcd",
    "  kube-apiserver  the embedded control plane, with the flags and certificates of envtest",
    "  kubectl         runs the next kubectl on the PATH; envtest calls it only if a test asks for it",
    "",
    "As in envtest, no controllers run: Deployments make no pods, and deleted namespaces stay. SETPOINT_ENVTEST_CONTROLLERS=1 in",
    "the environment of the tests turns them on.",
    "",
    "Exit codes: 0 written, 1 failed, 2 wrong usage.",
  ],
  load: async () => (await import("./write-assets.js")).writeAssets,
};
