import type { Deployment, ReplicaSet } from "setpoint/kinds/apps/v1";

export const REVISION = "deployment.kubernetes.io/revision";
const REVISION_HISTORY = "deployment.kubernetes.io/revision-history";
export const DESIRED_REPLICAS = "deployment.kubernetes.io/desired-replicas";
export const MAX_REPLICAS = "deployment.kubernetes.io/max-replicas";

/** Annotations that a ReplicaSet does not copy from its Deployment, because they mean something else there. */
const OWN_ANNOTATIONS: readonly string[] = [
  "kubectl.kubernetes.io/last-applied-configuration",
  REVISION,
  REVISION_HISTORY,
  DESIRED_REPLICAS,
  MAX_REPLICAS,
  "deprecated.deployment.rollback.to",
];
/** The maximum length of the list of earlier revisions. */
const MAX_HISTORY_CHARACTERS = 2_000;

type Annotations = Readonly<Record<string, string>>;

/** Revisions are int64 in Go. A JavaScript number represents only smaller ones exactly. */
export function revisionOf({ metadata }: ReplicaSet): bigint {
  return wholeOf(metadata.annotations?.[REVISION]) ?? 0n;
}

/** The revision for the newest ReplicaSet: one more than the highest older one. */
export function nextRevision(old: readonly ReplicaSet[]): bigint {
  return old.map(revisionOf).reduce((most, each) => (each > most ? each : most), 0n) + 1n;
}

/** The annotations of the newest ReplicaSet: the Deployment's, its own revision and its earlier revisions. */
export function annotationsFor(deployment: Deployment, current: Annotations, revision: bigint): Annotations {
  const copied = Object.entries(deployment.metadata.annotations ?? {}).filter(
    ([key]) => !OWN_ANNOTATIONS.includes(key),
  );
  const annotations = { ...current, ...Object.fromEntries(copied) };
  const text = current[REVISION];
  const before = text === undefined ? 0n : wholeOf(text);
  if (before === undefined || before >= revision) return annotations;
  annotations[REVISION] = String(revision);
  if (text !== undefined) annotations[REVISION_HISTORY] = extended(current[REVISION_HISTORY] ?? "", text);
  return annotations;
}

/** Drops the oldest revisions if the list becomes too long. */
function extended(history: string, revision: string): string {
  if (history === "") return revision;
  const revisions = [...history.split(","), revision];
  while (revisions.length > 1 && revisions.join(",").length > MAX_HISTORY_CHARACTERS) revisions.shift();
  return revisions.join(",");
}

export function scaleAnnotations(desired: number, max: number): Annotations {
  return { [DESIRED_REPLICAS]: String(desired), [MAX_REPLICAS]: String(max) };
}

function wholeOf(text: string | undefined): bigint | undefined {
  return text !== undefined && /^\d+$/.test(text) ? BigInt(text) : undefined;
}

/** Parses an annotation that holds a whole number; undefined for anything else. */
export function numberOf(text: string | undefined): number | undefined {
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : undefined;
}
