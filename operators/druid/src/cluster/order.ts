import type { NodeType } from "../druid.js";

/** Node types by rank. Groups of one rank are updated one at a time, sorted by name. */
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

/** The groups in update order; a downgrade reverses it. */
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

/** Whether `wanted` is an older version than `current`, judging by the image tags. */
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
