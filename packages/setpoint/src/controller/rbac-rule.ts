/** One rule of a Role or ClusterRole, with the place that it holds in. */
export interface RbacRule {
  /** The cluster by the manager's name for it; the own where left out. */
  readonly cluster?: string;
  /** A Role in this namespace; a ClusterRole where left out. */
  readonly namespace?: string;
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}
