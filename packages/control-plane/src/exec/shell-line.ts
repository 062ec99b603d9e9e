import { SetpointError } from "setpoint";

/** One command of a line, and when it runs: always, or after a success or failure of the previous one. */
export interface ShellCommand {
  readonly when: "always" | "success" | "failure";
  readonly words: readonly string[];
}

const TOKEN = /[^\S\n]+|(&&|\|\||;|\n)|#[^\n]*|((?:'[^']*'|"(?:[^"\\]|\\[\s\S])*"|\\[\s\S]|[^\s;&|'"\\])+)|[\s\S]/g;
const PIECE = /'([^']*)'|"((?:[^"\\]|\\[\s\S])*)"|\\([\s\S])|([^'"\\]+)/g;

/**
 * Parses a shell line: words, quotes, variables, `;`, `&&` and `||`. Throws `SHELL_NOT_SIMULATED` for anything else,
 * such as redirections, pipes and substitutions.
 */
export function parseShellLine(line: string, variable: (name: string) => string): readonly ShellCommand[] {
  const commands: ShellCommand[] = [];
  let words: string[] = [];
  let when: ShellCommand["when"] = "always";
  const finish = (next: ShellCommand["when"]): void => {
    if (words.length > 0) commands.push({ when, words });
    words = [];
    when = next;
  };
  for (const [text, separator, word] of line.matchAll(TOKEN)) {
    if (separator !== undefined) finish(separator === "&&" ? "success" : separator === "||" ? "failure" : "always");
    else if (word !== undefined) words.push(wordOf(word, variable));
    else if (text.trim() !== "" && !text.startsWith("#"))
      throw new SetpointError("SHELL_NOT_SIMULATED", `${text} is not simulated`);
  }
  finish("always");
  return commands;
}

function wordOf(text: string, variable: (name: string) => string): string {
  return text.replaceAll(PIECE, (piece, single?: string, double?: string, escaped?: string, plain?: string) => {
    if (single !== undefined) return single;
    if (escaped !== undefined) return escaped;
    const open = double ?? plain ?? piece;
    if (plain !== undefined && /[<>`(){}*?]/.test(plain.replaceAll(/\$(?:\{\w+\}|\?)/g, ""))) {
      throw new SetpointError("SHELL_NOT_SIMULATED", `${plain} is not simulated`);
    }
    return withVariables(open, variable);
  });
}

function withVariables(text: string, variable: (name: string) => string): string {
  return text.replaceAll(
    /\\([$"\\`])|\$(?:\{(\w+|\?)\}|(\w+|\?))/g,
    (_match, escaped?: string, braced?: string, plain?: string) => escaped ?? variable(braced ?? plain ?? ""),
  );
}
