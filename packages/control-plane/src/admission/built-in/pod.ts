import type { KubeObject } from "setpoint";

/** The parts of a Pod that admission reads. */
export interface Pod extends KubeObject {
  readonly spec: PodSpec;
}

export interface PodSpec {
  readonly containers?: readonly Container[];
  readonly initContainers?: readonly Container[];
  readonly volumes?: readonly { readonly name: string; readonly projected?: object }[];
  readonly serviceAccountName?: string;
  /** Deprecated alias of `serviceAccountName`. */
  readonly serviceAccount?: string;
  readonly automountServiceAccountToken?: boolean;
  readonly imagePullSecrets?: readonly object[];
  readonly priorityClassName?: string;
  readonly priority?: number;
  readonly preemptionPolicy?: string;
  readonly tolerations?: readonly Toleration[];
  readonly runtimeClassName?: string;
  readonly overhead?: Readonly<Record<string, string>>;
  readonly nodeSelector?: Readonly<Record<string, string>>;
}

export interface Container {
  readonly volumeMounts?: readonly { readonly name: string; readonly mountPath: string }[];
}

export interface Toleration {
  readonly key?: string;
  readonly operator?: string;
  readonly effect?: string;
  readonly tolerationSeconds?: number;
}

/** Copies the pod with these fields of its spec replaced. */
export function withSpec(pod: Pod, spec: Partial<PodSpec>): Pod {
  return { ...pod, spec: { ...pod.spec, ...spec } };
}
