import type { Session } from "../../session.js";

/** A node for one case. Nodes are cluster-wide: its name and label are the case's namespace. */
export interface ReadyNode extends AsyncDisposable {
  readonly name: string;
}

const nodes = "/api/v1/nodes";

/** Selects only the nodes of a case. */
export const ownNodes = (s: Session): Record<string, string> => ({ case: s.namespace });

/**
 * Creates a node and reports it ready, like a kubelet and the node controller; resolves once pods may be scheduled to
 * it.
 */
export async function readyNode(
  s: Session,
  suffix = "n",
  spec: { readonly taints?: readonly object[]; readonly unschedulable?: boolean } = {},
  labels: object = {},
): Promise<ReadyNode> {
  const name = `${s.namespace}-${suffix}`;
  const metadata = { name, labels: { ...ownNodes(s), ...labels } };
  await s.post(nodes, { metadata, spec }, { silent: true });
  const now = new Date().toISOString().replace(/\.\d+/, "");
  const ready = { type: "Ready", status: "True", lastHeartbeatTime: now, lastTransitionTime: now };
  await s.patch("merge", `${nodes}/${name}/status`, { status: { conditions: [ready] } }, { silent: true });
  // New nodes are tainted until their readiness is noticed.
  await s.patch("merge", `${nodes}/${name}`, { spec: { taints: spec.taints ?? null } }, { silent: true });
  const isNew = (taints: readonly { key: string }[] = []): boolean =>
    taints.some(({ key }) => key === "node.kubernetes.io/not-ready");
  await s.until(`${nodes}/${name}`, ({ body }) => !isNew(body.spec?.taints));
  return {
    name,
    [Symbol.asyncDispose]: async () => void (await s.delete(`${nodes}/${name}`, undefined, { silent: true })),
  };
}
