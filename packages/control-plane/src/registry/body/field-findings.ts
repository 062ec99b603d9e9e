import { goQuote } from "../../schema/go-format.js";
import { isArray, isObject, type Json } from "../../schema/json.js";

/** Something that field validation has to say about a body. */
export interface FieldFinding {
  /** Where; empty for what comes before all else. */
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

/** The keys that a document of YAML names twice, each with its line, in one sentence as Go has it. */
export function duplicateLines(lines: readonly string[]): readonly FieldFinding[] {
  return lines.length === 0 ? [] : [{ path: "", text: [YAML_HEAD, ...lines].join("\n  ") }];
}

/** What a finding says in headers, which hold one line each. */
export function warningsOf(text: string): readonly string[] {
  return text.startsWith(YAML_HEAD) ? text.split("\n  ").slice(1) : [text];
}

/**
 * The findings in the order in which a reader of the document comes upon them; by their names, where it went through a
 * map of Go's on its way. What is unknown is not looked into: neither it nor what is in it was named twice.
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
  const positions = new Map<string, number>([["", -1]]);
  for (const path of pathsOf(document, "", isSorted)) if (!positions.has(path)) positions.set(path, positions.size);
  const positionOf = ({ path }: FieldFinding): number => positions.get(path) ?? Number.POSITIVE_INFINITY;
  return findings
    .map((finding, index) => ({ finding, index }))
    .sort((a, b) => positionOf(a.finding) - positionOf(b.finding) || a.index - b.index)
    .map(({ finding }) => finding.text);
}

function* pathsOf(value: Json, path: string, isSorted: boolean): Generator<string> {
  if (isArray(value)) {
    for (const [index, item] of value.entries()) yield* pathsOf(item, `${path}[${index}]`, isSorted);
  } else if (isObject(value)) {
    const keys = Object.keys(value);
    for (const key of isSorted ? keys.sort() : keys) {
      const at = path === "" ? key : `${path}.${key}`;
      yield at;
      yield* pathsOf(value[key]!, at, isSorted);
    }
  }
}
