import { type Clock, systemClock, type Timer } from "setpoint/clock";
import type { CommandContext } from "setpoint/command";
import type { ResourceName } from "setpoint/graph";
import type { Pipelines } from "../runtime/pipelines.js";
import { durationText } from "./printing.js";

const REDRAW_MS = 100;
/** Shorter runs are not shown: they would only flash by. */
const SHOWN_AFTER_MS = 500;
const MOST_LINES = 8;
const BAR = 20;

interface Run {
  readonly startedAt: number;
  /** Duration of the last run, as an estimate for the user. */
  readonly lastMs: number | undefined;
  share: number;
}

/** Draws one line for each running resource, and draws them again as they go on. Only on a terminal. */
export class Progress {
  readonly #terminal: CommandContext["terminal"];
  readonly #clock: Clock;
  readonly #runs = new Map<string, Run>();
  #timer: Timer | undefined;
  #drawn = 0;
  #isOver = false;

  constructor({ terminal, values }: CommandContext, clock: Clock = systemClock) {
    this.#terminal = values.output !== undefined ? undefined : terminal;
    this.#clock = clock;
  }

  share({ name }: ResourceName, share: number): void {
    const run = this.#runs.get(name);
    if (run) run.share = share;
  }

  follow({ graph }: Pipelines): Disposable {
    if (!this.#terminal) return { [Symbol.dispose]: () => {} };
    const subscription = graph.subscribe((event) => {
      const name = event.type === "removed" ? event.name : event.resource.meta.name;
      if (event.type === "changed" && event.resource.status === "running") {
        if (this.#runs.has(name.name)) return;
        const lastMs = (event.resource.state as { readonly durationMs?: number } | undefined)?.durationMs;
        this.#runs.set(name.name, { startedAt: this.#clock.monotonic(), lastMs, share: 0 });
      } else this.#runs.delete(name.name);
    });
    this.#arm();
    return {
      [Symbol.dispose]: () => {
        subscription[Symbol.dispose]();
        this.end();
      },
    };
  }

  /** Erases the drawn lines. */
  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#timer?.[Symbol.dispose]();
    this.#runs.clear();
    this.#draw();
  }

  #arm(): void {
    this.#timer = this.#clock.timer(REDRAW_MS, () => {
      this.#draw();
      if (!this.#isOver) this.#arm();
    });
  }

  #draw(): void {
    if (!this.#terminal) return;
    const now = this.#clock.monotonic();
    const shown = [...this.#runs].filter(([, { startedAt }]) => now - startedAt >= SHOWN_AFTER_MS).slice(0, MOST_LINES);
    if (shown.length === 0 && this.#drawn === 0) return;
    const width = Math.max(10, this.#terminal.columns() - 1);
    const lines = shown.map(([name, run]) => {
      const full = Math.round(run.share * BAR);
      const last = run.lastMs === undefined ? "" : `, ${durationText(run.lastMs)} last time`;
      const text = `${"█".repeat(full)}${"░".repeat(BAR - full)} ${name} ${durationText(now - run.startedAt)}${last}`;
      return `\x1b[2K${text.slice(0, width)}\n`;
    });
    const up = this.#drawn > 0 ? `\x1b[${this.#drawn}A\x1b[J` : "";
    this.#terminal.write(up + lines.join(""));
    this.#drawn = lines.length;
  }
}
