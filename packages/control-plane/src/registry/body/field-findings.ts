import { isArray, isObject, type Json } from "../../schema/json.js";

/** Something that field validation has to say about a body. */
export interface FieldFinding {
  /** Where; empty for what comes before all else. */
  readonly path: string;
  /** `unknown field "spec.zzz"` */
  readonly text: string;
}

export function duplicateField(path: string): FieldFinding {
  return { path, text: `duplicate field "${path}"` };
}

export function unknownField(path: string): FieldFinding {
  return { path, text: `unknown field "${path}"` };
}

/** The findings in the order in which a reader of the document comes upon them. */
export function inDocumentOrder(document: Json, findings: readonly FieldFinding[]): readonly string[] {
  if (findings.length < 2) return findings.map(({ text }) => text);
  const positions = new Map<string, number>([["", -1]]);
  for (const path of pathsOf(document, "")) if (!positions.has(path)) positions.set(path, positions.size);
  const positionOf = ({ path }: FieldFinding): number => positions.get(path) ?? Number.POSITIVE_INFINITY;
  return findings
    .map((finding, index) => ({ finding, index }))
    .sort((a, b) => positionOf(a.finding) - positionOf(b.finding) || a.index - b.index)
    .map(({ finding }) => finding.text);
}

function* pathsOf(value: Json, path: string): Generator<string> {
  if (isArray(value)) {
    for (const [index, item] of value.entries()) yield* pathsOf(item, `${path}[${index}]`);
  } else if (isObject(value)) {
    for (const [key, child] of Object.entries(value)) {
      const at = path === "" ? key : `${path}.${key}`;
      yield at;
      yield* pathsOf(child, at);
    }
  }
}
