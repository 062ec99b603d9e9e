/** One step of a path: a field, all items of a list, or the items that satisfy a comparison. */
type Step =
  | { readonly type: "field"; readonly name: string }
  | { readonly type: "items" }
  | { readonly type: "select"; readonly path: readonly Step[]; readonly isEqual: boolean; readonly value: unknown };

const SELECT = /^select\s*\(\s*(.+?)\s*(==|!=)\s*(.+?)\s*\)$/;
const PART = /\.?\["([^"]+)"\]|\.?\[\]|\.([A-Za-z0-9_$-]+)|\./gy;

/** The values at a jq-like path, without absent ones and nulls. Empty for a malformed path. */
export function valuesAt(object: unknown, path: string): readonly unknown[] {
  const steps = parsed(path);
  return steps ? follow([object], steps) : [];
}

function parsed(path: string): readonly Step[] | undefined {
  const steps: Step[] = [];
  for (const piece of path.split("|").map((text) => text.trim())) {
    const select = SELECT.exec(piece);
    const inner = select && parsed(select[1]!);
    if (select) {
      if (!inner) return undefined;
      steps.push({ type: "select", path: inner, isEqual: select[2] === "==", value: literal(select[3]!) });
      continue;
    }
    PART.lastIndex = 0;
    for (let match = PART.exec(piece); match; match = PART.exec(piece)) {
      const [text, quoted, plain] = match;
      const name = quoted ?? plain;
      if (name !== undefined) steps.push({ type: "field", name });
      else if (text.includes("[")) steps.push({ type: "items" });
      if (PART.lastIndex === piece.length) break;
    }
    if (piece !== "" && !piece.startsWith(".")) return undefined;
  }
  return steps;
}

function literal(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

function follow(values: readonly unknown[], steps: readonly Step[]): readonly unknown[] {
  let found = values;
  for (const step of steps) {
    if (step.type === "items") found = found.flatMap((value) => (Array.isArray(value) ? (value as unknown[]) : []));
    else if (step.type === "field") {
      found = found.map((value) =>
        typeof value === "object" && value !== null ? (value as Record<string, unknown>)[step.name] : undefined,
      );
    } else found = found.filter((value) => (follow([value], step.path)[0] === step.value) === step.isEqual);
    found = found.filter((value) => value !== undefined && value !== null);
  }
  return found;
}
