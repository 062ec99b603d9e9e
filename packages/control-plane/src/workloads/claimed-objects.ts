import type { Kind, KubeObject, ObjectOf, ReconcileContext } from "setpoint";
import type { LabelSelector } from "setpoint/kinds";
import { adoption, BY_CONTROLLER, claims, ORPHANS, orphanPlace, release } from "./owner-claims.js";

/** The part of a reconcile context that claiming needs. The kind must be declared with `CLAIM_INDEXES`. */
type ClaimContext = Pick<ReconcileContext, "byIndex" | "patch">;

export interface ClaimOptions<T> {
  /** Whether an owner may adopt an object without a controller. */
  readonly mayAdopt?: (object: T) => boolean;
  /** Whether the owner releases objects that no longer match. Defaults to true. */
  readonly releases?: boolean;
}

/** Adopts matching orphans, releases objects that no longer match, and returns the owner's objects. */
export async function claimedObjects<K extends Kind>(
  ownerKind: Kind,
  owner: KubeObject & { readonly spec: { readonly selector: LabelSelector } },
  kind: K,
  ctx: ClaimContext,
  { mayAdopt = () => true, releases = true }: ClaimOptions<ObjectOf<K>> = {},
): Promise<readonly ObjectOf<K>[]> {
  const { uid, namespace = "" } = owner.metadata;
  const { selector } = owner.spec;
  const owned = await ctx.byIndex(kind, { [BY_CONTROLLER]: uid });
  const orphans = await ctx.byIndex(kind, { [ORPHANS]: orphanPlace(namespace, selector) });
  const { kept, adopted, released } = claims(owner, selector, [...owned, ...orphans.filter(mayAdopt)]);
  if (releases) for (const object of released) await ctx.patch(kind, object.metadata.name, release(owner, object));
  const taken: ObjectOf<K>[] = [];
  for (const object of adopted)
    taken.push(await ctx.patch(kind, object.metadata.name, adoption(ownerKind, owner, object)));
  return [...kept, ...taken];
}
