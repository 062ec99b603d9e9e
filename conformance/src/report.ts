import type { Case } from "./case.js";
import type { Difference } from "./compare.js";

/** A known and explained difference; the run fails when it no longer occurs, so that the list stays accurate. */
export interface KnownDifference {
  /** `area: case`, or how it starts. */
  readonly case: string;
  /** The start of the place's description. */
  readonly at: string;
  /** Random cases show it only sometimes: it need not occur in every run. */
  readonly sometimes?: boolean;
  readonly reason:
    | "columns"
    | "audit and flow-control headers"
    | "built-in validation and defaults"
    /** A deviation from the real server that must be fixed before a release. */
    | "gap";
}

export interface Verdict {
  readonly unexpected: readonly Difference[];
  readonly known: readonly Difference[];
  /** Entries of the list that matched nothing. */
  readonly stale: readonly KnownDifference[];
}

export function judge(differences: readonly Difference[], list: readonly KnownDifference[]): Verdict {
  const matches = (difference: Difference, entry: KnownDifference): boolean =>
    difference.case.startsWith(entry.case) && difference.at.startsWith(entry.at);
  return {
    unexpected: differences.filter((each) => !list.some((entry) => matches(each, entry))),
    known: differences.filter((each) => list.some((entry) => matches(each, entry))),
    stale: list.filter((entry) => !entry.sometimes && !differences.some((each) => matches(each, entry))),
  };
}

/** The table by area: cases, cases that agree, known and unexpected differences. */
export function table(cases: readonly Case[], verdict: Verdict): string {
  const areas = [...new Set(cases.map((each) => each.area))];
  const count = (list: readonly Difference[], area: string): number =>
    list.filter((each) => each.case.startsWith(`${area}: `)).length;
  const rows = areas.map((area) => {
    const titles = cases.filter((each) => each.area === area).map((each) => `${area}: ${each.name}`);
    const differing = new Set([...verdict.unexpected, ...verdict.known].map((each) => each.case));
    return [
      area,
      String(titles.length),
      String(titles.filter((title) => !differing.has(title)).length),
      String(count(verdict.known, area)),
      String(count(verdict.unexpected, area)),
    ];
  });
  const total = [1, 2, 3, 4].map((column) => String(rows.reduce((sum, row) => sum + Number(row[column]), 0)));
  const all = [["area", "cases", "agree", "known", "unexpected"], ...rows, ["total", ...total]];
  const widths = [0, 1, 2, 3, 4].map((column) => Math.max(...all.map((row) => row[column]!.length)));
  return all
    .map((row) => row.map((cell, at) => (at === 0 ? cell.padEnd(widths[0]!) : cell.padStart(widths[at]!))).join("  "))
    .join("\n");
}
