import { yaml } from "../../api/yaml.js";

/**
 * How deep YAML may nest. Its parser recurses, with much of the stack for each level, and what ends there may end the
 * process: a regular expression that V8 compiles with no stack left is no error that one could catch.
 */
export const MAX_YAML_DEPTH = 250;

/** Comes before the lexeme that is a plain or block scalar. */
const SCALAR = "\u001f";
const MARKS = ["\u0002", "\u0018", "\ufeff"];

/** Whether a text nests deeper than YAML may. Counts brackets, and columns at which something is indented further. */
export function isTooDeepYaml(text: string): boolean {
  const { Lexer } = yaml();
  const columns: number[] = [];
  let [column, brackets, isScalar] = [0, 0, false];
  for (const lexeme of new Lexer().lex(text)) {
    if (lexeme === SCALAR || MARKS.includes(lexeme)) {
      isScalar = lexeme === SCALAR;
      continue;
    }
    const isStructure = !isScalar;
    isScalar = false;
    if (isStructure && (lexeme === "[" || lexeme === "{")) brackets++;
    else if (isStructure && (lexeme === "]" || lexeme === "}")) brackets = Math.max(0, brackets - 1);
    else if (brackets === 0 && lexeme.trim() !== "" && lexeme !== ":") {
      while (columns.length > 0 && columns.at(-1)! >= column) columns.pop();
      columns.push(column);
    }
    if (brackets + columns.length > MAX_YAML_DEPTH) return true;
    const lineBreak = lexeme.lastIndexOf("\n");
    column = lineBreak < 0 ? column + lexeme.length : lexeme.length - lineBreak - 1;
  }
  return false;
}
