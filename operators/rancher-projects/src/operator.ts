import { createMissing, type OptionValues, type ReadyMadeOperator } from "setpoint/command";
import type { RancherProjectsOptions } from "./rancher-projects.js";

const MANAGEMENT = "management";
const MOVES = ["always", "own", "never"] as const;
const UNLABELLED = ["keep", "unassign"] as const;

const load = () => import("./index.js");

export const rancherProjectsOperator: ReadyMadeOperator = {
  name: "rancher-projects",
  summary: "puts each namespace labelled appOwner into the Rancher project of that name",
  options: {
    "cluster-id": {
      type: "string",
      placeholder: "ID",
      description: "prefers projects of this cluster",
      default: "local",
    },
    "management-kubeconfig": {
      type: "string",
      placeholder: "FILE",
      description: "the kubeconfig of Rancher's management API, if it is in another cluster",
    },
    move: {
      type: "string",
      placeholder: "POLICY",
      description: "moves namespaces out of another project: always, own or never",
      default: "own",
      choices: MOVES,
    },
    unlabelled: {
      type: "string",
      placeholder: "POLICY",
      description: "what to do when the label is removed: keep or unassign",
      default: "keep",
      choices: UNLABELLED,
    },
    exclude: {
      type: "string",
      placeholder: "PATTERN",
      multiple: true,
      description: "namespaces to ignore (default: kube-system, cattle-*)",
    },
    "normalise-names": { type: "boolean", description: "lets Dev-Ops find the project Dev Ops" },
  },
  examples: [
    { text: "show what it would do", command: "setpoint run rancher-projects --plan" },
    { text: "run on the cluster of the current kubeconfig", command: "setpoint run rancher-projects --leader-elect" },
    {
      text: "with Rancher's management API elsewhere",
      command: "setpoint run rancher-projects --management-kubeconfig rancher.yaml",
    },
  ],
  async start(values) {
    const file = values["management-kubeconfig"] as string | undefined;
    const options = optionsOf(values);
    const { rancherProjects } = await load();
    if (file === undefined) return { loops: [rancherProjects(options)] };
    const { connect } = await import("setpoint");
    const management = await connect({ kubeconfig: file });
    return {
      loops: [rancherProjects({ ...options, managementCluster: MANAGEMENT })],
      clusters: { [MANAGEMENT]: management },
    };
  },
  async loops(isManagementElsewhere) {
    const { rancherProjects } = await load();
    return [rancherProjects(isManagementElsewhere ? { managementCluster: MANAGEMENT } : {})];
  },
  managementCluster: MANAGEMENT,
  async prepare(client) {
    const { Project, projectCrd, sampleProjects } = await load();
    const { CustomResourceDefinition } = await import("setpoint/kinds/apiextensions.k8s.io/v1");
    const { Namespace } = await import("setpoint/kinds/v1");
    await createMissing(client, CustomResourceDefinition, projectCrd);
    await createMissing(client, Namespace, { metadata: { name: "local" } });
    for (const project of sampleProjects) await createMissing(client, Project, project as never);
  },
  tries: [
    "npx setpoint apply -f - <<< '{apiVersion: v1, kind: Namespace, metadata: {name: shop, labels: {appOwner: DevOps}}}'",
    "npx setpoint get namespace shop -o yaml",
    "npx setpoint why namespace shop",
  ],
};

function optionsOf(values: OptionValues): RancherProjectsOptions {
  const exclude = values.exclude as readonly string[] | undefined;
  return {
    clusterId: String(values["cluster-id"] ?? "local"),
    move: MOVES.find((each) => each === values.move) ?? "own",
    unlabelled: UNLABELLED.find((each) => each === values.unlabelled) ?? "keep",
    normalise: values["normalise-names"] === true,
    ...(exclude ? { exclude } : {}),
  };
}
