import { Session } from "node:inspector";

interface Coverage {
  readonly result: readonly {
    readonly url: string;
    readonly functions: readonly { readonly ranges: readonly { readonly count: number }[] }[];
  }[];
}

/**
 * How many blocks of code a piece of work ran, all that it calls included: a measure of its cost that is the same on every
 * machine. What is built into the engine (`JSON.parse`, regular expressions, sorting) counts as one.
 */
export function operationsOf(work: () => unknown): number {
  const session = new Session();
  session.connect();
  const post = <Result>(method: string, params: object = {}): Result => {
    let result: unknown;
    session.post(method, params, (error, value) => {
      if (error) throw error;
      result = value;
    });
    return result as Result;
  };
  try {
    post("Profiler.enable");
    post("Profiler.startPreciseCoverage", { callCount: true, detailed: true });
    post("Profiler.takePreciseCoverage");
    work();
    const { result } = post<Coverage>("Profiler.takePreciseCoverage");
    post("Profiler.stopPreciseCoverage");
    let operations = 0;
    for (const { functions } of result) {
      for (const { ranges } of functions) for (const { count } of ranges) operations += count;
    }
    return operations;
  } finally {
    session.disconnect();
  }
}
