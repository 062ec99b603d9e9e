import { yaml } from "../../api/yaml.js";

/**
 * Nesting limit of YAML. The parser recurses and uses much stack per level. A stack overflow can end the process: if V8
 * compiles a regular expression with no stack left, no code can catch the error.
 */
export const MAX_YAML_DEPTH = 250;

/** The lexer puts this mark before a plain or block scalar. */
const SCALAR = "\u001f";
const MARKS = ["\u0002", "\u0018", "\ufeff"];

/** Whether a text nests deeper than the limit. Counts brackets and growing indentation. */
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
