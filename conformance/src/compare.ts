import type { Step } from "./normalise.js";

/** One place where two transcripts of a case differ. */
export interface Difference {
  /** `area: case`. */
  readonly case: string;
  /** Which step, and where in it: `2 GET /api/v1/… body.metadata.labels`. */
  readonly at: string;
  readonly ours: unknown;
  readonly theirs: unknown;
}

/** The differences of two transcripts, each with its path; empty if they agree. */
export function compareTranscripts(
  name: string,
  ours: readonly Step[],
  theirs: readonly Step[],
): readonly Difference[] {
  const found: Difference[] = [];
  for (let index = 0; index < Math.max(ours.length, theirs.length); index++) {
    const what = theirs[index]?.what ?? ours[index]?.what ?? "";
    compareValues(ours[index], theirs[index], "", (path, left, right) => {
      found.push({ case: name, at: `${index + 1} ${what} ${path.slice(1)}`.trim(), ours: left, theirs: right });
    });
  }
  return found;
}

type Report = (path: string, ours: unknown, theirs: unknown) => void;

function compareValues(ours: unknown, theirs: unknown, path: string, report: Report): void {
  if (Object.is(ours, theirs)) return;
  if (Array.isArray(ours) && Array.isArray(theirs)) {
    for (let index = 0; index < Math.max(ours.length, theirs.length); index++) {
      compareValues(ours[index], theirs[index], `${path}[${index}]`, report);
    }
  } else if (isRecord(ours) && isRecord(theirs)) {
    for (const key of new Set([...Object.keys(ours), ...Object.keys(theirs)])) {
      compareValues(own(ours, key), own(theirs, key), `${path}.${key}`, report);
    }
  } else {
    report(path, ours, theirs);
  }
}

/** A key may be an inherited name such as constructor. */
const own = (record: Record<string, unknown>, key: string): unknown =>
  Object.hasOwn(record, key) ? record[key] : undefined;

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
