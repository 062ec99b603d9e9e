import type { Session } from "../../session.js";

/** A node that a case brings along. It is cluster-wide: its name and its label are the case's namespace. */
export interface ReadyNode extends AsyncDisposable {
  readonly name: string;
}

const nodes = "/api/v1/nodes";

/** What chooses the nodes of a case, and no others. */
export const ownNodes = (s: Session): Record<string, string> => ({ case: s.namespace });

/** Makes a node and calls it ready, as a kubelet and the controller of nodes would; resolves once pods may come to it. */
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
  // New nodes are tainted until somebody has seen that they are ready.
  await s.patch("merge", `${nodes}/${name}`, { spec: { taints: spec.taints ?? null } }, { silent: true });
  const isNew = (taints: readonly { key: string }[] = []): boolean =>
    taints.some(({ key }) => key === "node.kubernetes.io/not-ready");
  await s.until(`${nodes}/${name}`, ({ body }) => !isNew(body.spec?.taints));
  return {
    name,
    [Symbol.asyncDispose]: async () => void (await s.delete(`${nodes}/${name}`, undefined, { silent: true })),
  };
}
