import type { Body, Session } from "../../session.js";
import { readyStatus } from "./transitions.js";

/** The path of a case's objects of the group apps. */
export const apps = (s: Session, plural: string): string => `/apis/apps/v1/namespaces/${s.namespace}/${plural}`;
const pods = (s: Session): string => `/api/v1/namespaces/${s.namespace}/pods`;

/** A selector and a matching template, with an image. */
export const labelled = (image = "one") => ({
  selector: { matchLabels: { app: "a" } },
  template: { metadata: { labels: { app: "a" } }, spec: { containers: [{ name: "main", image }] } },
});

export async function create(s: Session, plural: string, spec: object, name = "a"): Promise<Body> {
  const reply = await s.post(
    apps(s, plural),
    { metadata: { name }, spec: { ...labelled(), ...spec } },
    { silent: true },
  );
  if (reply.status !== 201) s.note("refused", reply.body);
  return reply.body;
}

export async function change(s: Session, plural: string, body: object, name = "a"): Promise<void> {
  await s.patch("merge", `${apps(s, plural)}/${name}`, body, { silent: true });
}

/** The pods that are not terminating, sorted by name, once there are so many. */
export async function living(s: Session, count: number, isWanted: (pod: Body) => boolean = () => true) {
  const alive = (items: readonly Body[] = []): readonly Body[] =>
    items.filter((pod) => !pod.metadata.deletionTimestamp && isWanted(pod));
  const reply = await s.until(pods(s), ({ body }) => alive(body.items).length === count);
  const all = [...alive(reply.body.items)].sort((left, right) => (left.metadata.name < right.metadata.name ? -1 : 1));
  // Skips ordinals, which are short; the five generated characters may all be digits.
  for (const { metadata } of all) if (!/-\d{1,4}$/.test(metadata.name)) s.generated(metadata.name);
  return all;
}

export async function makeReady(s: Session, all: readonly Body[]): Promise<void> {
  for (const [index, { metadata }] of all.entries()) {
    await s.patch("merge", `${pods(s)}/${metadata.name}/status`, readyStatus(`10.1.1.${index + 1}`), { silent: true });
  }
}

/** Binds pods to nodes, as a scheduler would. */
export async function place(s: Session, all: readonly Body[], nodeOf: (pod: Body, index: number) => string) {
  for (const [index, pod] of all.entries()) {
    const { name } = pod.metadata;
    const target = { kind: "Node", name: nodeOf(pod, index) };
    await s.post(`${pods(s)}/${name}/binding`, { metadata: { name }, target }, { silent: true });
  }
}

/** Deletes pods at once, because no node stops them. */
export async function removePods(s: Session, all: readonly Body[]): Promise<void> {
  for (const { metadata } of all) {
    await s.delete(`${pods(s)}/${metadata.name}`, { gracePeriodSeconds: 0 }, { silent: true });
  }
}

/** The final status of an object, recorded with conditions by type: their order depends on who wrote first. */
export async function settled(
  s: Session,
  path: string,
  what: string,
  isDone: (object: Body) => boolean,
): Promise<Body> {
  const { body } = await s.until(path, (reply) => reply.status === 200 && isDone(reply.body));
  const conditions = [...(body.status?.conditions ?? [])].sort((left, right) => (left.type < right.type ? -1 : 1));
  s.note(what, { ...body.status, ...(body.status?.conditions && { conditions }) });
  return body;
}

/** The ReplicaSets of a case as `revision: replicas`, because hashes differ between servers. */
export async function replicaSets(s: Session, isDone: (sets: readonly Body[]) => boolean): Promise<readonly Body[]> {
  const { body } = await s.until(apps(s, "replicasets"), (reply) => isDone(reply.body.items ?? []));
  const revision = (set: Body): number => Number(set.metadata.annotations?.["deployment.kubernetes.io/revision"] ?? 0);
  const sets = [...body.items].sort((left: Body, right: Body) => revision(left) - revision(right));
  for (const { metadata } of sets) {
    const hash = metadata.labels?.["pod-template-hash"];
    if (hash) s.generated(hash);
  }
  return sets;
}
