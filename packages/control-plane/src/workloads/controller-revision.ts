import { isAlreadyExists, type JsonObject, type KubeObject, type ReconcileContext } from "setpoint";
import type { OwnerReference } from "setpoint/kinds";
import { ControllerRevision } from "setpoint/kinds/apps/v1";
import type { PodTemplateSpec } from "setpoint/kinds/v1";
import { canonicalJson, fnv1, safelyEncoded } from "./template-hash.js";

export const REVISION_HASH = "controller-revision-hash";
/** The label that holds the hash of a StatefulSet's ControllerRevision. */
export const STATEFUL_HASH_LABEL = "controller.kubernetes.io/hash";
const MAX_PREFIX = 223;

/** A pod template state, kept so that a rollback can return to it. */
export interface TemplateHistory {
  readonly owner: KubeObject;
  readonly reference: OwnerReference;
  readonly template: PodTemplateSpec;
  readonly hashLabel: string;
  /** The suffix of the revision's name, given the number of name collisions so far. */
  readonly hash: (collisionCount: number | undefined) => string;
}

export function revisionData(template: PodTemplateSpec): JsonObject {
  return { spec: { template: { ...template, $patch: "replace" } } } as unknown as JsonObject;
}

export function templateOf({ data }: ControllerRevision): PodTemplateSpec {
  const { spec } = data as unknown as { readonly spec: { readonly template: PodTemplateSpec & { $patch?: string } } };
  const { $patch: _, ...template } = spec.template;
  return template;
}

/** FNV-1 over the revision's patch, as Go marshals it. */
export function revisionHash(data: JsonObject, collisionCount: number | undefined): string {
  const escaped = canonicalJson(data).replace(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  const hash = fnv1(Buffer.from(escaped));
  return safelyEncoded(String(collisionCount === undefined ? hash : fnv1(Buffer.from(String(collisionCount)), hash)));
}

export function byRevision(left: ControllerRevision, right: ControllerRevision): number {
  if (left.revision !== right.revision) return left.revision - right.revision;
  return left.metadata.creationTimestamp < right.metadata.creationTimestamp ? -1 : 1;
}

type Context = Pick<ReconcileContext<KubeObject, typeof ControllerRevision, never>, "create" | "find" | "patch">;

/** Finds the revision of the current template. Creates or renumbers it if necessary, and counts name collisions. */
export async function syncRevision(
  history: TemplateHistory,
  revisions: readonly ControllerRevision[],
  collisionCount: number | undefined,
  ctx: Context,
): Promise<{ readonly revision: ControllerRevision; readonly collisionCount: number | undefined }> {
  const ordered = [...revisions].sort(byRevision);
  const newest = ordered.at(-1);
  const number = (newest?.revision ?? 0) + 1;
  const data = revisionData(history.template);
  const wanted = canonicalJson(data);
  const equal = ordered.filter((each) => canonicalJson(each.data as JsonObject) === wanted).at(-1);
  if (equal && equal === newest) return { revision: equal, collisionCount };
  if (equal) {
    const patch = { type: "merge", body: { revision: number } } as const;
    return { revision: await ctx.patch(ControllerRevision, equal.metadata.name, patch), collisionCount };
  }
  let collisions = collisionCount;
  for (;;) {
    const revision = newRevision(history, data, number, history.hash(collisions));
    try {
      return { revision: await ctx.create(ControllerRevision, revision), collisionCount: collisions };
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
      const existing = await ctx.find(ControllerRevision, revision.metadata.name, { cached: false });
      if (existing && canonicalJson(existing.data as JsonObject) === wanted)
        return { revision: existing, collisionCount: collisions };
      collisions = (collisions ?? 0) + 1;
    }
  }
}

function newRevision(history: TemplateHistory, data: JsonObject, revision: number, hash: string) {
  const { owner, reference, template, hashLabel } = history;
  return {
    metadata: {
      name: `${owner.metadata.name.slice(0, MAX_PREFIX)}-${hash}`,
      labels: { ...template.metadata?.labels, [hashLabel]: hash },
      ...(owner.metadata.annotations && { annotations: owner.metadata.annotations }),
      ownerReferences: [reference],
    },
    data,
    revision,
  };
}

/** The unused revisions beyond the limit, oldest first. */
export function outlived(
  revisions: readonly ControllerRevision[],
  isLive: (revision: ControllerRevision) => boolean,
  limit: number,
): readonly ControllerRevision[] {
  const unused = [...revisions].sort(byRevision).filter((revision) => !isLive(revision));
  return unused.slice(0, Math.max(0, unused.length - limit));
}
