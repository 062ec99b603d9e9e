import type { OwnerReference } from "setpoint/kinds";
import type { Pod, PodTemplateSpec } from "setpoint/kinds/v1";

type NewPod = Omit<Pod, "apiVersion" | "kind" | "metadata" | "status"> & {
  readonly metadata: {
    readonly name?: string;
    readonly generateName?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly finalizers?: readonly string[];
    readonly ownerReferences: readonly OwnerReference[];
  };
};

/** A pod from a template, with its controller reference. */
export function podFromTemplate(
  template: PodTemplateSpec | undefined,
  owner: OwnerReference,
  name: { readonly name: string } | { readonly generateName: string },
  labels: Readonly<Record<string, string>> = {},
): NewPod {
  const { metadata = {}, spec } = template ?? {};
  const { annotations, finalizers } = metadata as { annotations?: Record<string, string>; finalizers?: string[] };
  return {
    metadata: {
      ...name,
      labels: { ...metadata.labels, ...labels },
      ...(annotations && { annotations }),
      ...(finalizers && { finalizers }),
      ownerReferences: [owner],
    },
    spec: spec ?? { containers: [] },
  };
}
