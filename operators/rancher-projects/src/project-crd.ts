/** A Project CRD for a control plane without Rancher, with the fields this operator reads. Never for a real cluster. */
export const projectCrd = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "projects.management.cattle.io" },
  spec: {
    group: "management.cattle.io",
    scope: "Namespaced",
    names: { plural: "projects", singular: "project", kind: "Project", listKind: "ProjectList" },
    versions: [
      {
        name: "v3",
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
        additionalPrinterColumns: [{ name: "Display Name", type: "string", jsonPath: ".spec.displayName" }],
      },
    ],
  },
} as const;

/** Projects to try the operator with, in the namespace of the cluster `local`. */
export const sampleProjects = ["DevOps", "Platform", "Data"].map((displayName) => ({
  apiVersion: "management.cattle.io/v3",
  kind: "Project",
  metadata: { name: `p-${displayName.toLowerCase()}`, namespace: "local" },
  spec: { displayName, clusterName: "local" },
}));
