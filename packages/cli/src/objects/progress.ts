import type { CommandContext } from "setpoint/command";
import { visible } from "../visible.js";

const MARKS = { ready: "✓", progressing: "…", failed: "✗" } as const;
const COLOURS = { ready: 32, progressing: 33, failed: 31 } as const;

export interface ProgressLine {
  readonly state: keyof typeof MARKS;
  readonly message: string;
}

/**
 * The progress of several objects: on a terminal one line each, redrawn on changes; elsewhere one line per change, for
 * logs.
 */
export class Progress {
  readonly #context: Pick<CommandContext, "stdout" | "terminal" | "env">;
  readonly #lines = new Map<string, ProgressLine>();
  #drawn = 0;

  constructor(context: Pick<CommandContext, "stdout" | "terminal" | "env">) {
    this.#context = context;
  }

  set(name: string, line: ProgressLine): void {
    const known = this.#lines.get(name);
    if (known?.state === line.state && known.message === line.message) return;
    this.#lines.set(name, line);
    const { terminal, stdout } = this.#context;
    if (terminal) this.#draw(terminal);
    else stdout(`${name} ${visible(line.message)}`);
  }

  #draw({ write, columns }: NonNullable<CommandContext["terminal"]>): void {
    const up = this.#drawn > 0 ? `\x1b[${this.#drawn}A` : "";
    const rows = [...this.#lines].map(([name, { state, message }]) => {
      // A wrapped line would break the redrawing.
      const text = visible(`${name} ${message}`.replaceAll(/\s+/g, " ")).slice(0, Math.max(10, columns() - 3));
      return `\x1b[2K${this.#coloured(MARKS[state], COLOURS[state])} ${text}\n`;
    });
    write(up + rows.join(""));
    this.#drawn = rows.length;
  }

  #coloured(text: string, colour: number): string {
    return this.#context.env.NO_COLOR ? text : `\x1b[${colour}m${text}\x1b[0m`;
  }
}
