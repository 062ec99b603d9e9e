/** One rule of a Role or ClusterRole, with its place. */
export interface RbacRule {
  /** The manager's name of the cluster. Defaults to its own cluster. */
  readonly cluster?: string;
  /** With a namespace, a Role there; otherwise a ClusterRole. */
  readonly namespace?: string;
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}
