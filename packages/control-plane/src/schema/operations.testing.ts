import { Session } from "node:inspector";

interface Coverage {
  readonly result: readonly {
    readonly url: string;
    readonly functions: readonly { readonly ranges: readonly { readonly count: number }[] }[];
  }[];
}

/**
 * The number of blocks of code that a piece of work ran, including everything it calls: a measure of its cost that is
 * the same on every machine. Functions of the engine (`JSON.parse`, regular expressions, sorting) count as one.
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
