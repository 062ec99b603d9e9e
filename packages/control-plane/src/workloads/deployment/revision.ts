import type { Deployment, ReplicaSet } from "setpoint/kinds/apps/v1";

export const REVISION = "deployment.kubernetes.io/revision";
const REVISION_HISTORY = "deployment.kubernetes.io/revision-history";
export const DESIRED_REPLICAS = "deployment.kubernetes.io/desired-replicas";
export const MAX_REPLICAS = "deployment.kubernetes.io/max-replicas";

/** Annotations that mean something else on a ReplicaSet than on its Deployment. */
const OWN_ANNOTATIONS: readonly string[] = [
  "kubectl.kubernetes.io/last-applied-configuration",
  REVISION,
  REVISION_HISTORY,
  DESIRED_REPLICAS,
  MAX_REPLICAS,
  "deprecated.deployment.rollback.to",
];
/** How long the list of earlier revisions may become. */
const MAX_HISTORY_CHARACTERS = 2_000;

type Annotations = Readonly<Record<string, string>>;

/** Revisions are Go's int64; a JavaScript number holds only the smaller ones exactly. */
export function revisionOf({ metadata }: ReplicaSet): bigint {
  return wholeOf(metadata.annotations?.[REVISION]) ?? 0n;
}

/** The revision that the newest ReplicaSet should have: one more than all older ones. */
export function nextRevision(old: readonly ReplicaSet[]): bigint {
  return old.map(revisionOf).reduce((most, each) => (each > most ? each : most), 0n) + 1n;
}

/** The annotations of the newest ReplicaSet: those of its Deployment, and its revision with the earlier ones. */
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

/** The oldest revisions make way where the list becomes too long. */
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

/** A whole number of an annotation; undefined for anything else. */
export function numberOf(text: string | undefined): number | undefined {
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : undefined;
}
