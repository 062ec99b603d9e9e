import type { InformerEvent } from "./informer.js";
import type { Change } from "./reflector/model-api.testing.js";
import type { Widget } from "./reflector/scripted-api.testing.js";

/** One step as a handler saw it; versions as numbers, 0 for none. */
interface SeenStep {
  readonly type: "add" | "update" | "delete";
  readonly from: number;
  readonly to: number;
  readonly merged: boolean;
}

/** The steps that one handler saw, by key. Checks every step against the previous one. */
export class StepLog {
  readonly byKey = new Map<string, SeenStep[]>();
  readonly state = new Map<string, { readonly uid: string; readonly revision: number }>();
  steps = 0;
  merged = 0;

  see(event: InformerEvent<Widget>): void {
    this.steps++;
    const { key } = event;
    const before = this.state.get(key);
    if (event.type === "delete") {
      if (!before) throw new Error(`${key}: deleted without having been there`);
      this.state.delete(key);
      this.#push(key, { type: "delete", from: before.revision, to: 0, merged: false });
      return;
    }
    const { uid, resourceVersion } = event.object.metadata;
    const revision = Number(resourceVersion);
    if (event.type === "add") {
      if (before) throw new Error(`${key}: added at ${revision} while there at ${before.revision}`);
      this.#push(key, { type: "add", from: 0, to: revision, merged: false });
    } else {
      const from = Number(event.old.metadata.resourceVersion);
      if (before?.revision !== from) throw new Error(`${key}: updated from ${from} while at ${before?.revision}`);
      if (before.uid !== uid) throw new Error(`${key}: another object shown as an update`);
      if (revision <= from) throw new Error(`${key}: updated from ${from} back to ${revision}`);
      if (event.merged) this.merged++;
      this.#push(key, { type: "update", from, to: revision, merged: event.merged });
    }
    this.state.set(key, { uid, revision });
  }

  /** Throws unless this log equals the other with some updates merged, as marked, and nothing else missing. */
  expectMergeOf(whole: StepLog): void {
    for (const [key, steps] of whole.byKey) {
      const mine = this.byKey.get(key) ?? [];
      let at = 0;
      for (const step of mine) {
        let other = steps[at++];
        if (step.merged) {
          if (other?.from !== step.from)
            throw new Error(`${key}: merged from ${step.from}, but ${other?.from} was seen`);
          while (other && other.to !== step.to && other.type === "update") other = steps[at++];
        }
        const isSame =
          other && other.type === step.type && other.to === step.to && (step.merged || other.from === step.from);
        if (!isSame)
          throw new Error(`${key}: ${JSON.stringify(step)} where another handler saw ${JSON.stringify(other)}`);
      }
      if (at !== steps.length) throw new Error(`${key}: ${steps.length - at} steps missing at the end`);
    }
  }

  /**
   * Throws unless the handler saw every change that a watch delivered without a list in between, or an own write
   * overtook it.
   */
  expectPromised(
    changes: readonly Change[],
    gaps: readonly (readonly [from: number, to: number])[],
    own: ReadonlySet<number>,
  ): number {
    let promised = 0;
    let gap = 0;
    const seen = new Map<string, Set<number>>();
    const deletesSeen = new Map<string, number>();
    for (const [key, steps] of this.byKey) {
      seen.set(key, new Set(steps.map((step) => step.to)));
      deletesSeen.set(key, steps.filter((step) => step.type === "delete").length);
    }
    for (const change of changes) {
      while (gap < gaps.length && gaps[gap]![1] < change.revision) gap++;
      if (gap >= gaps.length || gaps[gap]![0] >= change.revision) continue;
      promised++;
      if (change.type === "DELETED" || seen.get(change.key)?.has(change.revision)) continue;
      const over = this.byKey.get(change.key)?.find((step) => step.from < change.revision && step.to > change.revision);
      if (!over || !own.has(over.to))
        throw new Error(`${change.key}: the change at ${change.revision} was never shown`);
    }
    return promised;
  }

  #push(key: string, step: SeenStep): void {
    const steps = this.byKey.get(key);
    if (steps) steps.push(step);
    else this.byKey.set(key, [step]);
  }
}
