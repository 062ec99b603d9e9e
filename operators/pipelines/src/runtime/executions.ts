import type { Engine, Publication } from "../engine/engine.js";

/** What became of the resources of a run, by name. */
export interface RunSummary {
  /** Models whose SQL made their table or view anew. */
  readonly executed: readonly string[];
  /** What was left as it is, or is a view of a table that was. */
  readonly settled: readonly string[];
  readonly failed: readonly string[];
}

/** Counts what an engine published, by the key of the table: the only proof that a model was executed. */
export class Executions {
  readonly #tables = new Set<string>();

  /** The same engine, watched. */
  watching<Watched extends Engine>(engine: Watched): Watched {
    return new Proxy(engine, {
      get: (target, property) => {
        const value: unknown = Reflect.get(target, property, target);
        if (typeof value !== "function") return value;
        if (property !== "publish") return value.bind(target);
        const publish: Engine["publish"] = async (publication, options) => {
          const stamp = await target.publish(publication, options);
          if (!isKept(publication)) this.#tables.add(publication.table.toLowerCase());
          return stamp;
        };
        return publish;
      },
    });
  }

  has(table: string): boolean {
    return this.#tables.has(table.toLowerCase());
  }

  forget(): void {
    this.#tables.clear();
  }
}

/** No SQL of the model was run: its table stays, or it shares the version of another. */
function isKept({ write, stamp }: Publication): boolean {
  return write.type === "keep" || stamp.outputVersion !== undefined;
}
