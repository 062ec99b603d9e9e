import type { NodeType } from "../druid.js";

/** Ranks of node types: those of one rank are updated one after the other by the names of their groups. */
export const ROLLOUT_ORDERS = {
  seed: [["historical"], ["middleManager"], ["indexer"], ["broker"], ["coordinator"], ["overlord"], ["router"]],
  documentation: [["historical"], ["middleManager", "indexer"], ["broker"], ["router"], ["overlord"], ["coordinator"]],
  original: [["historical"], ["overlord"], ["middleManager"], ["indexer"], ["broker"], ["coordinator"], ["router"]],
} as const satisfies Readonly<Record<string, readonly (readonly NodeType[])[]>>;
export type RolloutOrder = keyof typeof ROLLOUT_ORDERS;

interface Ordered {
  readonly key: string;
  readonly node: { readonly nodeType: NodeType };
}

/** The groups in the order in which they are updated; a downgrade goes backwards. */
export function inOrder<T extends Ordered>(
  groups: readonly T[],
  order: RolloutOrder,
  isDowngrade = false,
): readonly T[] {
  const ranks: readonly (readonly NodeType[])[] = ROLLOUT_ORDERS[order];
  const rank = ({ node }: Ordered): number => {
    const found = ranks.findIndex((types) => types.includes(node.nodeType));
    return isDowngrade ? -found : found;
  };
  return [...groups].sort((a, b) => rank(a) - rank(b) || (a.key < b.key ? -1 : 1));
}

/** Whether `wanted` is an older version of `current`, as far as the tags of the two images tell. */
export function isOlderImage(wanted: string | undefined, current: string | undefined): boolean {
  const [to, from] = [versionOf(wanted), versionOf(current)];
  if (!to || !from) return false;
  const at = to.findIndex((part, index) => part !== from[index]);
  return at >= 0 && to[at]! < from[at]!;
}

function versionOf(image: string | undefined): readonly number[] | undefined {
  const tag = /:(?:[a-z]+-)?v?(\d+)\.(\d+)(?:\.(\d+))?[^/]*$/.exec(image ?? "");
  return tag ? [Number(tag[1]), Number(tag[2]), Number(tag[3] ?? 0)] : undefined;
}
