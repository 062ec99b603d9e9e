import type { Engine, Publication } from "../engine/engine.js";

/** The names of all resources, by the outcome of the run. */
export interface RunSummary {
  /** Models whose SQL ran and wrote their table or view. */
  readonly executed: readonly string[];
  /** Resources that were left as they are, or that are a view of an unchanged table. */
  readonly settled: readonly string[];
  readonly failed: readonly string[];
}

/** Records which tables an engine published. A publication is the only proof that a model was executed. */
export class Executions {
  readonly #tables = new Set<string>();

  /** Wraps the engine to record its publications. */
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

/** True if the model's SQL did not run: its table stays, or it has the version of another table. */
function isKept({ write, stamp }: Publication): boolean {
  return write.type === "keep" || stamp.outputVersion !== undefined;
}
