import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import fc from "fast-check";
import { transformWithOxc } from "vite";
import { afterAll, describe, expect, it } from "vitest";
import { holdsAllInvariants, scripts } from "./properties.testing.js";
import type { Parts } from "./simulation.testing.js";

const sources = fileURLToPath(new URL("..", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "graph-mutants-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Mutant {
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

/** Each a mistake that somebody could make, and the invariants must notice. */
const MUTANTS: Readonly<Record<string, Mutant>> = {
  "drops an entry of a run's waitlist": {
    file: "graph/reduce.ts",
    from: "for (let waiter = run.waiters; waiter; waiter = waiter.next) {",
    to: "for (let waiter = run.waiters?.next; waiter; waiter = waiter.next) {",
  },
  "skips the fence": { file: "graph/memory-store.ts", from: "if (own !== epoch)", to: "if (own > epoch)" },
  "forgets backdating: an equal output counts as a new one": {
    file: "graph/reduce.ts",
    from: "(result.outputVersion ?? `run ${runs}`)",
    to: "`run ${runs}`",
  },
  "starts before a cancelled descendant has returned": {
    file: "graph/dispatch.ts",
    from: "if (child.run !== undefined) found.add(child.run);",
    to: "",
  },
  "does not cancel descendants": {
    file: "graph/scheduling.ts",
    from: 'else if (node.status === "running" && draft.run(node.run!)?.phase === "reconcile")',
    to: "else if (node.id === undefined)",
  },
  "forgets that a run has begun": {
    file: "graph/dispatch.ts",
    from: "{ began: true as const }",
    to: "{}",
  },
  "compares outputs, but not failures": {
    file: "graph/scheduling.ts",
    from: '`${hasFailed(parent) ? "failed" : "ok"} ${parent.trace?.outputVersion ?? ""}`',
    to: 'parent.trace?.outputVersion ?? ""',
  },
  "lets regular runs pass renames": {
    file: "graph/dispatch.ts",
    from: "if (draft.next.openRenames > 0) return;",
    to: "",
  },
  "removes a resource whose removal failed": {
    file: "graph/reduce.ts",
    from: 'if (result.outcome === "done") {\n    removeTombstone',
    to: "if (result.outcome) {\n    removeTombstone",
  },
  "calls only the last member of a cycle cyclic": {
    file: "graph/edits.ts",
    from: "for (const key of componentOf(draft, id)) setCyclic(draft, draft.node(key)!);",
    to: "setCyclic(draft, draft.node(id)!);",
  },
  "gives back no capacity": {
    file: "graph/reduce.ts",
    from: "added(draft.next.used, run.weights, -1)",
    to: "draft.next.used",
  },
  "lets a run of a name start beside another one": {
    file: "graph/dispatch.ts",
    from: "if (busy !== undefined) found.add(busy);",
    to: "",
  },
  "repeats after a crash what the crash did not interrupt": {
    file: "graph/reduce.ts",
    from: 'if (record.began) causes.push({ type: "interrupted" });',
    to: 'causes.push({ type: "interrupted" });',
  },
  "takes a self-update for one by somebody else": {
    file: "graph/edits.ts",
    from: "if (by !== undefined && node.run === by) updateOwnRun(draft, updated, by);",
    to: "if (by === -1) updateOwnRun(draft, updated, by);",
  },
  "publishes what a cancelled run returned": {
    file: "graph/reduce.ts",
    from: "if (run.cancelled) endCancelled(draft, node);",
    to: 'if (run.cancelled && run.phase !== "reconcile") endCancelled(draft, node);',
  },
  "brings a resource to rest below one that is at work": {
    file: "graph/scheduling.ts",
    from: "const isBelowWork = node.unsettledRefs > 0 && node.meta.deletedOn === undefined;",
    to: "const isBelowWork = false;",
  },
};

/** Writes the sources that these need, as JavaScript, with one of them mutated. */
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

function check(parts: Parts) {
  return fc.check(
    fc.property(scripts(60), (script) => holdsAllInvariants(parts, script)),
    { numRuns: 400, endOnFailure: true, seed: 20_260_101 },
  );
}

describe("a mutant of the scheduler that", { timeout: 300_000 }, () => {
  it.each(Object.entries(MUTANTS))("%s is caught", async (name, mutant) => {
    const parts = await built(mutant, join(folder, name.replaceAll(/\W+/g, "-")));
    expect(check(parts).failed).toBe(true);
  });
});

describe("a failing script", { timeout: 300_000 }, () => {
  it("shrinks, and replays from what is printed", async () => {
    const parts = await built(MUTANTS["does not cancel descendants"], join(folder, "replay"));
    const property = fc.property(scripts(60), (script) => holdsAllInvariants(parts, script));
    const found = fc.check(property, { numRuns: 400, seed: 20_260_101 });
    const replayed = fc.check(property, { seed: found.seed, path: found.counterexamplePath!, endOnFailure: true });
    expect(replayed.counterexample).toEqual(found.counterexample);
    expect(found.counterexample![0].length).toBeLessThan(12);
  });
});
