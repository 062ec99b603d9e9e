import { basename, join } from "node:path";

/** Folders with entry points that share modules with a package's `index`, the most basic ones first. */
const SMALLER = ["kinds", "manager"];

/**
 * Assigns modules that several files need to chunks. By default a bundler makes a chunk for each set of entry points
 * that share something, dozens in all, and opening one costs an import as much as compiling fifty kilobytes. Here there
 * is one chunk for each folder of smaller entry points, with the parts of `index` that those need, one for the rest
 * that `index` loads eagerly, and one for modules that lazily loaded files share and that need no further package.
 */
export function eagerChunks(folder, entries) {
  const index = "src/index.ts";
  if (!entries.includes(index)) return [];
  const sets = SMALLER.map((name) => [name, entries.filter((entry) => isSmaller(entry, name))]);
  const paths = (starts) => starts.map((start) => join(folder, start));
  const isEager = reachedFrom(paths([index]));
  const eager = [...sets.filter(([, starts]) => starts.length > 0), [basename(folder), [index]]].map(
    ([name, starts], at) => {
      const isReached = reachedFrom(paths(starts));
      const belongs = (id, graph) => id !== join(folder, index) && isEager(id, graph) && isReached(id, graph);
      return {
        name: (id, graph) => (belongs(id, graph) ? name : null),
        debugName: name,
        priority: SMALLER.length - at + 2,
      };
    },
  );
  const needsMore = packagesBeyond(isEager);
  const later = (id, graph) => (needsMore(id, graph) ? null : "later");
  return [...eager, { name: later, debugName: "later", minShareCount: 2, priority: 1 }];
}

/** The index of a folder shares nearly everything with that of the package. */
function isSmaller(entry, name) {
  return entry.startsWith(`src/${name}/`) && entry !== `src/${name}/index.ts`;
}

/** Bundled modules: files, and the helpers that the toolchain adds. */
const OWN = /^(\0|[./]|[A-Z]:|@oxc-project\/runtime)/;

/**
 * Whether a module needs a package that `index` does not load. Such a module must not be in a chunk that others load.
 */
function packagesBeyond(isEager) {
  const known = new Map();
  const needsMore = (id, graph) => {
    const answer = known.get(id);
    if (answer !== undefined) return answer;
    known.set(id, false);
    const info = graph.getModuleInfo(id);
    const isPackage = !OWN.test(id) && !id.startsWith("node:");
    const needs =
      !isEager(id, graph) && (isPackage || (info?.importedIds ?? []).some((next) => needsMore(next, graph)));
    known.set(id, needs);
    return needs;
  };
  return needsMore;
}

/** Whether a module is reachable from the start modules by static imports. */
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
