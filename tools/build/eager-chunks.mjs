import { join } from "node:path";

/** Folders with entry points that a package's `index` shares modules with, the most elementary first. */
const SMALLER = ["kinds", "manager"];

/**
 * Where the modules go that a package's `index` loads with it. Left alone, a bundler makes a file for each set of entry
 * points that share something, a dozen in all, and opening one costs an import as much as compiling fifty kilobytes. Here
 * there is one file for each folder of smaller entry points, with what those need of it, and one for the rest.
 */
export function eagerChunks(folder, entries) {
  const index = "src/index.ts";
  const sets = SMALLER.map((name) => [name, entries.filter((entry) => entry.startsWith(`src/${name}/`))]);
  if (!entries.includes(index) || sets.every(([, starts]) => starts.length === 0)) return [];
  const paths = (starts) => starts.map((start) => join(folder, start));
  const isEager = reachedFrom(paths([index]));
  return [...sets, ["setpoint", [index]]].map(([name, starts], at, all) => {
    const isReached = reachedFrom(paths(starts));
    const belongs = (id, graph) => id !== join(folder, index) && isEager(id, graph) && isReached(id, graph);
    return { name: (id, graph) => (belongs(id, graph) ? name : null), debugName: name, priority: all.length - at };
  });
}

/** Whether a module is loaded with others, dynamic imports aside. */
function reachedFrom(starts) {
  let reached;
  return (id, graph) => {
    if (!reached) {
      reached = new Set(starts);
      for (const each of reached) for (const next of graph.getModuleInfo(each)?.importedIds ?? []) reached.add(next);
    }
    return reached.has(id);
  };
}
