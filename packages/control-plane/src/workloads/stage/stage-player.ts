import type { JsonObject, Kind, KubeObject, ReconcileContext } from "setpoint";
import type { JsonPatchOperation, Patch } from "setpoint/client";
import type { Clock, Random } from "setpoint/clock";
import { yaml } from "../../api/yaml.js";
import { renderTemplate, type TemplateFunctions } from "./go-template.js";
import type { Stage, StageFinalizers, StagePatch, StageStep } from "./stage.js";
import { StageExpressions } from "./stage-expressions.js";
import { chosenStage, matchingStages, stageDelayMs } from "./stage-match.js";

/** The part of a reconcile context that playing a stage needs. */
type Run = Pick<ReconcileContext, "state" | "event" | "patch" | "delete">;

/** The stage chosen for an object and when it is due, kept between runs. */
interface Choice {
  readonly among: string;
  readonly name: string;
  readonly dueMs: number;
}

/** Pause between two stages. Timestamps have whole seconds, and a stage that leads to itself must not spin. */
const PAUSE_MS = 1_000;

/** Plays the stages of one kind: picks one of the stages that match an object, and applies it after its delay. */
export class StagePlayer {
  readonly #kind: Kind;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #expressions = new StageExpressions();

  constructor(kind: Kind, { clock, random }: { readonly clock: Clock; readonly random: Random }) {
    this.#kind = kind;
    this.#clock = clock;
    this.#random = random;
  }

  /** The stages that match an object now. */
  stagesOf(object: KubeObject, stages: readonly Stage[]): readonly Stage[] {
    return matchingStages(stages, this.#kind, object, this.#expressions);
  }

  /** Applies the chosen stage if it is due. Returns the milliseconds until the next reconcile. */
  async play(object: KubeObject, stages: readonly Stage[], functions: TemplateFunctions, run: Run): Promise<number> {
    const nowMs = this.#clock.now();
    const among = stages.map(({ metadata }) => metadata.name).join();
    let choice = run.state.stage as Choice | undefined;
    if (choice?.among !== among) {
      const stage = chosenStage(stages, object, this.#expressions, this.#random)!;
      const delayMs = stageDelayMs(stage, object, this.#expressions, this.#random, nowMs);
      choice = { among, name: stage.metadata.name, dueMs: nowMs + delayMs };
      run.state.stage = choice;
    }
    if (choice.dueMs > nowMs) return choice.dueMs - nowMs;
    delete run.state.stage;
    const stage = stages.find(({ metadata }) => metadata.name === choice.name)!;
    for (const step of stepsOf(stage)) await this.#perform(object, step, functions, run);
    return PAUSE_MS;
  }

  async #perform(object: KubeObject, step: StageStep, functions: TemplateFunctions, run: Run): Promise<void> {
    const { name, namespace = "", uid } = object.metadata;
    const { event, finalizers, patch } = step;
    if (event) run.event(event.type === "Warning" ? "Warning" : "Normal", event.reason ?? "Stage", event.message ?? "");
    if (finalizers) {
      const before = object.metadata.finalizers ?? [];
      const next = changedFinalizers(before, finalizers);
      const body = { metadata: { uid, finalizers: next } };
      if (next.join() !== before.join()) await run.patch(this.#kind, name, { type: "merge", body }, { namespace });
    }
    if (patch?.template) {
      const { subresource } = patch;
      const value: unknown = yaml().parse(renderTemplate(patch.template, object, functions)) ?? {};
      const where = { namespace, ...(subresource && { subresource }) };
      await run.patch(this.#kind, name, this.#patchOf(patch, value), where);
    }
    if (step.delete) await run.delete(this.#kind, name, { namespace, gracePeriodSeconds: 0, preconditions: { uid } });
  }

  #patchOf({ type, root }: StagePatch, value: unknown): Patch {
    if (type === "json") return { type, operations: value as JsonPatchOperation[] };
    // Built-in API groups have no dot or end in `.k8s.io`, which is reserved for Kubernetes.
    const isBuiltIn = !this.#kind.group.includes(".") || this.#kind.group.endsWith(".k8s.io");
    const body = (root ? { [root]: value } : value) as JsonObject;
    return { type: type ?? (isBuiltIn ? "strategic" : "merge"), body };
  }
}

/** The steps of a stage, in kwok's order. */
function stepsOf({ spec }: Stage): readonly StageStep[] {
  const { next, steps = [] } = spec;
  if (!next) return steps;
  const { event, finalizers, statusTemplate, statusSubresource = "status", patches = [] } = next;
  const status = statusTemplate && { subresource: statusSubresource, root: "status", template: statusTemplate };
  const all = [...(status ? [status] : []), ...patches];
  return [
    { ...(event && { event }), ...(finalizers && { finalizers }) },
    ...all.map((patch) => ({ patch })),
    { delete: next.delete ?? false },
    ...steps,
  ];
}

function changedFinalizers(before: readonly string[], { add = [], remove = [], empty }: StageFinalizers): string[] {
  const kept = (empty ? [] : before).filter((each) => !remove.some(({ value }) => value === each));
  return [...kept, ...add.map(({ value }) => value).filter((value) => !kept.includes(value))];
}
