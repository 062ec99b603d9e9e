import { inexpressible } from "./json-schema.js";

/** Reserved words of CEL; a field with such a name is written between double underscores. */
const RESERVED: ReadonlySet<string> = new Set([
  ...["true", "false", "null", "in", "as", "break", "const", "continue", "else", "for", "function", "if", "import"],
  ...["let", "loop", "package", "namespace", "return", "var", "void", "while"],
]);

/** A field's name as Kubernetes has rules spell it; undefined for one that no rule can reach. */
export function celName(name: string): string | undefined {
  if (RESERVED.has(name)) return `__${name}__`;
  if (!/^[A-Za-z_][\w./-]*$/.test(name)) return undefined;
  return name
    .replaceAll("__", "__underscores__")
    .replaceAll(".", "__dot__")
    .replaceAll("-", "__dash__")
    .replaceAll("/", "__slash__");
}

/** `self.name` in CEL; throws for a name that no rule can reach. */
export function celField(name: string, path: string): string {
  const spelled = celName(name);
  if (spelled !== undefined) return `self.${spelled}`;
  throw inexpressible(path, `no CEL rule can refer to a field named ${JSON.stringify(name)}, which its union needs`);
}

/** A field in the `fieldPath` of a rule. */
export const celFieldPath = (name: string): string => (/^[A-Za-z_]\w*$/.test(name) ? `.${name}` : `['${name}']`);

/** `subject == "a"`, or `subject in ["a", "b"]`. */
export function celOneOf(subject: string, values: readonly unknown[]): string {
  const literals = values.map((value) => JSON.stringify(value));
  return literals.length === 1 ? `${subject} == ${literals[0]}` : `${subject} in [${literals.join(", ")}]`;
}
