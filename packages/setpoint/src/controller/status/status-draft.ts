import { type Condition, findCondition, type NewCondition, setCondition } from "../../kinds/condition.js";
import type { KubeObject } from "../../kinds/object.js";
import { mergePatch } from "../apply/field-paths.js";

type Edit =
  | { readonly type: "merge"; readonly status: unknown }
  | { readonly type: "condition"; readonly condition: NewCondition; readonly mayReplace?: MayReplace };

/** Whether a condition may replace the shown one. */
type MayReplace = (shown: Condition | undefined) => boolean;

/** The status changes of a run, kept as edits, so that they can be repeated on a newer state. */
export class StatusDraft {
  #edits: Edit[] = [];
  #isOptional = false;

  merge(status: unknown): void {
    this.#edits.push({ type: "merge", status });
  }

  condition(condition: NewCondition): void {
    this.#edits.push({ type: "condition", condition });
  }

  /** Sets a condition of the runtime if it may replace the shown one. Kinds without conditions simply do not show it. */
  report(condition: NewCondition, mayReplace: MayReplace): void {
    if (this.isEmpty) this.#isOptional = true;
    this.#edits.push({ type: "condition", condition, mayReplace });
  }

  /** Removes the condition of {@link report}, because the kind's schema does not allow it. */
  dropReport(): void {
    this.#edits = this.#edits.filter((edit) => edit.type === "merge" || !edit.mayReplace);
  }

  get hasReport(): boolean {
    return this.#edits.some((edit) => edit.type === "condition" && edit.mayReplace !== undefined);
  }

  /** The types of the conditions that the reconciler set. */
  get conditionTypes(): readonly string[] {
    return this.#edits.flatMap((edit) => (edit.type === "condition" && !edit.mayReplace ? [edit.condition.type] : []));
  }

  /** True if only the runtime has something to say. */
  get isOptional(): boolean {
    return this.#isOptional;
  }

  get isEmpty(): boolean {
    return this.#edits.length === 0;
  }

  /** The status that `object` should have. */
  applyTo(object: KubeObject, nowMs: number): unknown {
    let status: unknown = (object as { status?: unknown }).status;
    for (const edit of this.#edits) {
      if (edit.type === "merge") {
        status = mergePatch(status, edit.status);
      } else {
        const current = (status as { conditions?: readonly Condition[] } | undefined)?.conditions;
        if (edit.mayReplace && !edit.mayReplace(findCondition(current, edit.condition.type))) continue;
        const conditions = setCondition(current, edit.condition, nowMs);
        if (conditions !== current) status = { ...(status as object | undefined), conditions };
      }
    }
    return status;
  }
}
