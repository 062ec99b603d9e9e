import { ERROR_BUDGET } from "../../api/error-budget.js";
import { goQuote } from "../../api/go-format.js";
import { isArray, type Json, type JsonObject } from "../../api/json.js";

/** A finding of field validation in a request body. */
export interface FieldFinding {
  /** Path of the field. Findings with an empty path come first. */
  readonly path: string;
  /** `unknown field "spec.zzz"` */
  readonly text: string;
}

export function duplicateField(path: string): FieldFinding {
  return { path, text: `duplicate field ${goQuote(path)}` };
}

export function unknownField(path: string): FieldFinding {
  return { path, text: `unknown field ${goQuote(path)}` };
}

const YAML_HEAD = "yaml: unmarshal errors:";

/** One finding for all duplicate YAML keys, each with its line, in Go's wording. */
export function duplicateLines(lines: readonly string[]): readonly FieldFinding[] {
  return lines.length === 0 ? [] : [{ path: "", text: [YAML_HEAD, ...lines].join("\n  ") }];
}

/** Splits a finding into header lines: a header holds one line. */
export function warningsOf(text: string): readonly string[] {
  return text.startsWith(YAML_HEAD) ? text.split("\n  ").slice(1) : [text];
}

/**
 * Sorts the findings by document order, or by name if `isSorted` because Go read the document through a map. Duplicates
 * in unknown fields are dropped: the decoder does not look into unknown fields.
 */
export function inDocumentOrder(
  document: Json,
  duplicates: readonly FieldFinding[],
  unknown: readonly FieldFinding[],
  isSorted: boolean,
): readonly string[] {
  const isInUnknown = ({ path }: FieldFinding): boolean =>
    path !== "" && unknown.some((each) => path === each.path || path.startsWith(`${each.path}.`));
  const findings = [...duplicates.filter((each) => !isInUnknown(each)), ...unknown];
  if (findings.length < 2) return findings.map(({ text }) => text);
  const ordered = inOrder(
    document,
    findings.filter(({ path }) => path !== ""),
    isSorted,
  );
  const found = [...findings.filter(({ path }) => path === ""), ...ordered];
  return found.slice(0, ERROR_BUDGET.findings).map(({ text }) => text);
}

/** A finding, and how many characters of its path the walk has passed. */
interface Sought {
  readonly finding: FieldFinding;
  readonly from: number;
}

/** Walks only the parts of the document that have findings: building every path would be quadratic. */
function inOrder(document: Json, findings: readonly FieldFinding[], isSorted: boolean): readonly FieldFinding[] {
  const ordered = new Set<FieldFinding>();
  walk(
    document,
    findings.map((finding) => ({ finding, from: 0 })),
    isSorted,
    ordered,
  );
  // Findings that are not in the document come last.
  return [...ordered, ...findings.filter((finding) => !ordered.has(finding))];
}

function walk(value: Json, sought: readonly Sought[], isSorted: boolean, ordered: Set<FieldFinding>): void {
  if (sought.length === 0 || typeof value !== "object" || value === null) return;
  const isList = isArray(value);
  const byStart = new Map<string, Sought[]>();
  for (const each of sought) {
    const start = firstWord(each.finding.path, each.from, isList);
    const others = byStart.get(start);
    if (others === undefined) byStart.set(start, [each]);
    else others.push(each);
  }
  const visit = (step: string, child: Json): void => {
    const below: Sought[] = [];
    for (const { finding, from } of byStart.get(firstWord(step, 0, isList)) ?? []) {
      const { path } = finding;
      const end = from + step.length;
      if (!path.startsWith(step, from) || (end < path.length && path[end] !== "." && path[end] !== "[")) continue;
      if (end === path.length) ordered.add(finding);
      else below.push({ finding, from: path[end] === "." ? end + 1 : end });
    }
    walk(child, below, isSorted, ordered);
  };
  if (isArray(value)) {
    const indexes = [...byStart.keys()].map((text) => Number(text.slice(1, -1))).filter((index) => index in value);
    for (const index of indexes.sort((a, b) => a - b)) visit(`[${index}]`, value[index]!);
  } else {
    const keys = Object.keys(value);
    for (const key of isSorted ? keys.sort() : keys) visit(key, (value as JsonObject)[key]!);
  }
}

/** The next path step: an index with its brackets, or a key up to its first dot or bracket. */
function firstWord(path: string, from: number, isIndex: boolean): string {
  for (let at = from; at < path.length; at++) {
    const character = path[at];
    if (isIndex ? character === "]" : character === "." || character === "[") {
      return path.slice(from, isIndex ? at + 1 : at);
    }
  }
  return path.slice(from);
}
