import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import fc from "fast-check";
import { transformWithOxc } from "vite";
import { afterAll, describe, expect, it } from "vitest";
import { holdsAllInvariants, scripts } from "./properties.testing.js";
import { type Parts, Violation } from "./simulation.testing.js";

const sources = fileURLToPath(new URL("..", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "graph-mutants-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Mutant {
  /** The invariant that it breaks, by its number in docs/graph.md. It may break others too. */
  readonly breaks: number;
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

const SEED = 20_260_101;

/** Each is a plausible mistake that the invariants must detect. */
const MUTANTS: Readonly<Record<string, Mutant>> = {
  "drops an entry of a run's waitlist": {
    breaks: 4,
    file: "graph/reduce.ts",
    from: "for (let waiter = run.waiters; waiter; waiter = waiter.next) {",
    to: "for (let waiter = run.waiters?.next; waiter; waiter = waiter.next) {",
  },
  "skips the fence": { breaks: 13, file: "graph/memory-store.ts", from: "if (own !== epoch)", to: "if (own > epoch)" },
  "forgets backdating: an equal output counts as a new one": {
    breaks: 14,
    file: "graph/reduce.ts",
    from: "result.outputVersion ??",
    to: "undefined ??",
  },
  "starts before a cancelled descendant has returned": {
    breaks: 10,
    file: "graph/dispatch.ts",
    from: "if (child.run !== undefined) found.add(child.run);",
    to: "",
  },
  "does not cancel descendants": {
    breaks: 3,
    file: "graph/scheduling.ts",
    from: 'else if (node.status === "running" && readsRefs(draft, node))',
    to: "else if (node.id === undefined)",
  },
  "forgets that a run has begun": {
    breaks: 11,
    file: "graph/dispatch.ts",
    from: "{ began: true as const }",
    to: "{}",
  },
  "compares outputs, but not failures": {
    breaks: 8,
    file: "graph/scheduling.ts",
    from: 'hasFailed(parent) ? "failed" : "ok"',
    to: '"ok"',
  },
  "lets regular runs pass renames": {
    breaks: 11,
    file: "graph/dispatch.ts",
    from: "if (draft.next.openRenames > 0) return;",
    to: "",
  },
  "removes a resource whose removal failed": {
    breaks: 11,
    file: "graph/reduce.ts",
    from: 'if (result.outcome === "done") {\n    removeTombstone',
    to: "if (result.outcome) {\n    removeTombstone",
  },
  "calls only the last member of a cycle cyclic": {
    breaks: 12,
    file: "graph/edits.ts",
    from: "for (const key of componentOf(draft, id)) setCyclic(draft, draft.node(key)!);",
    to: "setCyclic(draft, draft.node(id)!);",
  },
  "gives back no capacity": {
    breaks: 4,
    file: "graph/reduce.ts",
    from: "added(draft.next.used, run.weights, -1)",
    to: "draft.next.used",
  },
  "lets a run of a name start beside another one": {
    breaks: 2,
    file: "graph/dispatch.ts",
    from: "if (busy !== undefined) found.add(busy);",
    to: "",
  },
  "repeats runs after a crash that it did not interrupt": {
    breaks: 7,
    file: "graph/reduce.ts",
    from: 'if (record.began) causes.push({ type: "interrupted" });',
    to: 'causes.push({ type: "interrupted" });',
  },
  "mistakes a self-update for a foreign one": {
    breaks: 9,
    file: "graph/edits.ts",
    from: "if (by !== undefined && node.run === by) updateOwnRun(draft, updated, by);",
    to: "if (by === -1) updateOwnRun(draft, updated, by);",
  },
  "publishes the result of a cancelled run": {
    breaks: 5,
    file: "graph/reduce.ts",
    from: "if (run.cancelled) endCancelled(draft, node);",
    to: 'if (run.cancelled && run.phase !== "reconcile") endCancelled(draft, node);',
  },
  "settles a resource below one that is running": {
    breaks: 3,
    file: "graph/scheduling.ts",
    from: "const isBelowWork = node.unsettledRefs > 0 && node.meta.deletedOn === undefined;",
    to: "const isBelowWork = false;",
  },
  "forgets to recheck waiting resources": {
    breaks: 1,
    file: "graph/reduce.ts",
    from: "...(result.due && !isDueNow ? { due: result.due } : {}),",
    to: "",
  },
  "does not notify dependents of a finished ref": {
    breaks: 6,
    file: "graph/scheduling.ts",
    from: 'if (ran && !isWaiting) tellChildren(draft, node, "finished");',
    to: "",
  },
  "counts only the capacity of one run, not of others": {
    breaks: 15,
    file: "graph/dispatch.ts",
    from: "(used[name] ?? 0) + weight <= capacity[name]!",
    to: "weight <= capacity[name]!",
  },
};

/** Writes the needed sources as JavaScript, with one of them mutated. */
async function built(mutant: Mutant | undefined, into: string): Promise<Parts> {
  const done = new Set<string>();
  const open = ["graph/reduce.ts", "graph/explain.ts", "graph/memory-store.ts"];
  for (let file = open.pop(); file !== undefined; file = open.pop()) {
    if (done.has(file)) continue;
    done.add(file);
    let text = readFileSync(join(sources, file), "utf8");
    if (mutant?.file === file) {
      expect(text, `${file} does not hold ${mutant.from}`).toContain(mutant.from);
      text = text.replace(mutant.from, mutant.to);
    }
    const { code } = await transformWithOxc(text, file);
    for (const [, target] of code.matchAll(/from "(\.[^"]+)\.js"/g))
      open.push(relative(sources, join(sources, dirname(file), `${target}.ts`)));
    const target = join(into, file.replace(/\.ts$/, ".js"));
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, code);
  }
  writeFileSync(join(into, "package.json"), '{ "type": "module" }');
  const load = (file: string) => import(/* @vite-ignore */ pathToFileURL(join(into, "graph", file)).href);
  const [reduce, explain, draft, store] = await Promise.all(
    ["reduce.js", "explain.js", "draft.js", "memory-store.js"].map(load),
  );
  return { ...reduce, ...explain, ...draft, ...store } as Parts;
}

/** Whether a script violates an invariant. */
function isBroken(parts: Parts, invariant: number): boolean {
  return fc.sample(scripts(60), { numRuns: 400, seed: SEED }).some((script) => {
    try {
      holdsAllInvariants(parts, script);
    } catch (error) {
      return error instanceof Violation && error.invariant === invariant;
    }
    return false;
  });
}

describe("a mutant of the scheduler that", { timeout: 300_000 }, () => {
  it.each(Object.entries(MUTANTS))("%s is caught", async (name, mutant) => {
    const parts = await built(mutant, join(folder, name.replaceAll(/\W+/g, "-")));
    expect(isBroken(parts, mutant.breaks)).toBe(true);
  });

  it("breaks it exists for each of the fifteen invariants", () => {
    const broken = new Set(Object.values(MUTANTS).map(({ breaks }) => breaks));
    expect([...broken].sort((left, right) => left - right)).toEqual(Array.from({ length: 15 }, (_, at) => at + 1));
  });
});

describe("a failing script", { timeout: 300_000 }, () => {
  it("shrinks, and replays from its printed form", async () => {
    const parts = await built(MUTANTS["does not cancel descendants"], join(folder, "replay"));
    const property = fc.property(scripts(60), (script) => holdsAllInvariants(parts, script));
    const found = fc.check(property, { numRuns: 400, seed: SEED });
    const replayed = fc.check(property, { seed: found.seed, path: found.counterexamplePath!, endOnFailure: true });
    expect(replayed.counterexample).toEqual(found.counterexample);
    expect(found.counterexample![0].length).toBeLessThan(12);
  });
});
