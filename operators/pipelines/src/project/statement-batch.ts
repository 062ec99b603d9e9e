import type { Engine, ParsedStatement } from "../engine/engine.js";

interface Waiting {
  readonly resolve: (statement: ParsedStatement) => void;
  readonly reject: (error: unknown) => void;
}

/** Parses statements that are requested together as one batch, and caches the results of this pass and the last. */
export class StatementBatch {
  readonly #engine: Pick<Engine, "parse">;
  #current = new Map<string, Promise<ParsedStatement>>();
  #last = new Map<string, Promise<ParsedStatement>>();
  #pending = new Map<string, Waiting>();

  constructor(engine: Pick<Engine, "parse">) {
    this.#engine = engine;
  }

  /**
   * Starts a new generation of the cache at a full pass, or when partial passes have filled it. Results that the last
   * generation did not use are dropped.
   */
  beginPass(isFull: boolean): void {
    if (!isFull && this.#current.size < 20_000) return;
    this.#last = this.#current;
    this.#current = new Map();
  }

  readonly parse = (sql: string): Promise<ParsedStatement> => {
    const known = this.#current.get(sql) ?? this.#last.get(sql);
    const answer = known ?? this.#ask(sql);
    this.#current.set(sql, answer);
    return answer;
  };

  #ask(sql: string): Promise<ParsedStatement> {
    if (this.#pending.size === 0) queueMicrotask(() => void this.#flush());
    const answer = new Promise<ParsedStatement>((resolve, reject) => this.#pending.set(sql, { resolve, reject }));
    answer.catch(() => this.#current.delete(sql));
    return answer;
  }

  async #flush(): Promise<void> {
    const batch = [...this.#pending];
    this.#pending = new Map();
    try {
      const answers = await this.#engine.parse(batch.map(([sql]) => sql));
      for (const [index, [, { resolve }]] of batch.entries()) resolve(answers[index]!);
    } catch (error) {
      for (const [, { reject }] of batch) reject(error);
    }
  }
}
