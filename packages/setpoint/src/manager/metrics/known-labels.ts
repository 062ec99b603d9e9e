import type { Labels } from "../../controller/metric-source.js";

/** How many label sets to keep: kinds, controllers and outcomes are few. */
const MAX_KNOWN = 1_000;

/** Returns the same object for the same labels, which metrics look up quickly. */
export function knownLabels(...names: readonly string[]): (...values: readonly string[]) => Labels {
  const known = new Map<string, Labels>();
  return (...values) => {
    const id = values.join("\n");
    const before = known.get(id);
    if (before) return before;
    const labels = Object.fromEntries(names.map((name, at) => [name, values[at]!]));
    if (known.size < MAX_KNOWN) known.set(id, labels);
    return labels;
  };
}
