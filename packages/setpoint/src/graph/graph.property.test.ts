import fc from "fast-check";
import { expect, it } from "vitest";
import { retry, terminal, waitFor } from "../loop/outcome.js";
import type { GraphEditor, Ticket } from "./graph-editor.js";
import type { GraphResult } from "./graph-kind.js";
import { Lab, named } from "./lab.testing.js";
import { resourceKey } from "./resource.js";

const NAMES = ["a", "b", "c", "d"];
const REFUSALS = ["GRAPH_NAME_TAKEN", "GRAPH_NOT_FOUND", "GRAPH_RUN_OVER"];
const ENDS = ["GRAPH_CLOSED", "GRAPH_STOPPED"];

type Step = readonly [operation: number, first: number, second: number];

interface Kept {
  readonly ticket: Ticket;
  /** The number of the graph that returned it. */
  readonly graph: number;
  readonly what: string;
}

/** A graph that a script edits, runs and restarts, with the results of its tickets and subscribers. */
class Play {
  readonly #tickets: Kept[] = [];
  /** The statuses that subscribers know, by key. */
  readonly #known = new Map<string, string>();
  #lab!: Lab;
  #graphs = 0;

  async open(before?: Lab): Promise<void> {
    const whenRefsFinish = this.#graphs++ % 2 === 0 ? "always" : "changed";
    const weight = ({ value = 0 }) => ({ slots: (value % 3) / 10 });
    const capacity = { slots: 0.3 };
    this.#lab = await Lab.create({ whenRefsFinish, weight }, { capacity, ...(before ? { before } : {}) });
    const { graph } = this.#lab;
    this.#known.clear();
    for (const { meta, status } of graph.list()) this.#known.set(resourceKey(meta.name), status);
    graph.subscribe((event) => {
      if (event.type === "removed") this.#known.delete(resourceKey(event.name));
      else {
        const { meta, status } = event.resource;
        if (meta.deletedOn === undefined) this.#known.set(resourceKey(meta.name), status);
      }
    });
  }

  async act(step: Step): Promise<void> {
    const [operation, first, second] = step;
    const { graph, running, clock } = this.#lab;
    const keep = this.#keeper(JSON.stringify(step));
    if (operation < 10) keep(edited(graph, step));
    else if (operation === 10) {
      const work = [0, 1, 2].map((at): Step => [second >> at, first >> at, second + at]);
      keep(graph.batch((edit) => work.forEach((each) => void edited(edit as unknown as GraphEditor, each))));
    } else if (operation === 11) {
      void graph.lock(async (edit) => {
        keep(edited(edit, [second, first, second]));
        await Promise.resolve();
        keep(edited(edit, [first, second, first]));
      });
    } else if (operation === 12) await clock.advance(second * 1_000);
    else if (operation === 13 && second < 30) await this.#restart(first % 2 === 0);
    else if (operation < 15) await this.#lab.settle();
    else if (running.length > 0) await this.#answer(running[first % running.length]!, second);
  }

  #keeper(what: string): (ticket: Ticket) => void {
    const graph = this.#graphs;
    return (ticket) => void this.#tickets.push({ ticket, graph, what });
  }

  async #restart(isFenced: boolean): Promise<void> {
    const old = this.#lab;
    if (!isFenced) await old[Symbol.asyncDispose]();
    await this.open(old);
    if (!isFenced) return;
    old.create("late"); // the old process notices with its next write
    await old.settle();
    expect(await old.graph.ended).toMatchObject({ code: "GRAPH_FENCED" });
    await old[Symbol.asyncDispose]();
  }

  async #answer(name: string, how: number): Promise<void> {
    const call = this.#lab.call(name);
    if (how % 5 === 0) call.ctx.updateState({ how });
    if (how % 7 === 0) this.#keeper(`the run of ${name}`)(edited(call.ctx.graph, [how >> 3, how, how]));
    if (how % 11 === 0) return call.throw(new Error("thrown"));
    const outputVersion = String(how % 3);
    const runAgainAt = this.#lab.clock.now() + ((how % 9) - 2) * 500;
    const results: readonly GraphResult[] = [
      retry(new Error("retry")),
      call.phase === "reconcile" ? terminal(new Error("terminal")) : retry(new Error("again")),
      waitFor("Test"),
      { outputVersion, runAgainAt },
    ];
    return call.return(results[how % 16] ?? { outputVersion });
  }

  /** Lets everything come to rest, and checks tickets and subscribers. */
  async end(): Promise<void> {
    const { graph, clock } = this.#lab;
    for (let turn = 0; turn < 60; turn++) {
      await this.#lab.finishAll();
      await clock.advance(600_000);
      if (this.#lab.running.length === 0) break;
    }
    expect(this.#lab.running).toEqual([]);
    await graph.waitUntilIdle();
    const listed = graph.list().map(({ meta, status }) => [resourceKey(meta.name), status]);
    expect(listed, "what subscribers know").toEqual([...this.#known].sort());
    expect(listed.filter(([, status]) => status !== "idle" && status !== "cyclic")).toEqual([]);
    expect(graph.deleted()).toEqual([]);
    for (const each of this.#tickets) await this.#checkTicket(each);
    await this.#lab[Symbol.asyncDispose]();
  }

  async #checkTicket({ ticket, graph, what }: Kept): Promise<void> {
    const answered = ticket.then(
      (rests) => ({ rests, code: undefined }),
      ({ code }: { readonly code: string }) => ({ rests: [], code }),
    );
    const answer = await Promise.race([answered, this.#lab.settle().then(() => undefined)]);
    expect(answer, `the answer of ${what}`).toBeDefined();
    const { rests, code } = answer!;
    if (code !== undefined) expect(graph < this.#graphs ? [...REFUSALS, ...ENDS] : REFUSALS, what).toContain(code);
    else expect([rests.length > 0, [...rests].includes(undefined as never)], what).toEqual([true, false]);
  }
}

function edited(editor: GraphEditor, [operation, first, second]: Step): Ticket {
  const name = named(NAMES[first % 4]!);
  const refs = NAMES.filter((_, at) => (second >> at) & 1 && (second > 240 || at < first % 4)).map(named);
  switch (operation % 8) {
    case 0:
    case 1:
      return editor.create({ name, refs, spec: { value: second } });
    case 2:
      return editor.updateSpec(name, { value: second % 5 });
    case 3:
      return editor.updateMeta(name, { refs });
    case 4:
      return editor.updateName(name, named(NAMES[second % 4]!));
    case 5:
      return editor.delete(name);
    case 6:
      return editor.reconcile(name);
    default:
      return editor.cancel(name);
  }
}

const step = fc.tuple(fc.nat(22), fc.nat(255), fc.nat(255));

it("settles every ticket and tells subscribers of every change, for random edits, outcomes and restarts", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40, size: "max" }), async (script) => {
      const play = new Play();
      await play.open();
      for (const each of script) await play.act(each);
      await play.end();
    }),
  );
});
