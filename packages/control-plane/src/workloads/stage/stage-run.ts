import type { Clock, JsonObject, Outcome, Random, ReconcileContext } from "setpoint";
import { Pod } from "setpoint/kinds/v1";
import { yaml } from "../../yaml.js";
import type { PodPlace } from "../pod/pod-life.js";
import { renderTemplate } from "./go-template.js";
import type { Stage } from "./stage.js";
import { stageFunctions } from "./stage-functions.js";
import { chosenStage, stageDelayMs } from "./stage-match.js";

type Context = ReconcileContext<Pod, typeof Pod, never>;

/** The stage that was chosen for a pod, and when it is done: kept from run to run. */
interface Choice {
  readonly among: string;
  readonly name: string;
  readonly dueMs: number;
}

/** How long after a stage the next one is looked for, so that one which leads to itself does not spin. */
const PAUSE_MS = 100;

/** Plays one of the stages that a pod is in: chosen once, done in its time. */
export async function playStage(
  pod: Pod,
  stages: readonly Stage[],
  place: PodPlace,
  { clock, random }: { readonly clock: Clock; readonly random: Random },
  ctx: Context,
): Promise<Outcome> {
  const nowMs = clock.now();
  const among = stages.map(({ metadata }) => metadata.name).join();
  let choice = ctx.state.stage as Choice | undefined;
  if (choice?.among !== among) {
    const stage = chosenStage(stages, random)!;
    choice = { among, name: stage.metadata.name, dueMs: nowMs + stageDelayMs(stage, pod, random, nowMs) };
    ctx.state.stage = choice;
  }
  if (choice.dueMs > nowMs) return ctx.requeueAfter(choice.dueMs - nowMs);
  delete ctx.state.stage;
  const stage = stages.find(({ metadata }) => metadata.name === choice.name)!;
  await perform(pod, stage, place, nowMs, ctx);
  return ctx.requeueAfter(PAUSE_MS);
}

async function perform(pod: Pod, { spec }: Stage, place: PodPlace, nowMs: number, ctx: Context): Promise<void> {
  const { event, finalizers, statusTemplate, delete: isDeleted } = spec.next ?? {};
  const { name, uid } = pod.metadata;
  if (event) ctx.event(event.type === "Warning" ? "Warning" : "Normal", event.reason ?? "Stage", event.message ?? "");
  if (finalizers) {
    const { add = [], remove = [], empty } = finalizers;
    const kept = (empty ? [] : (pod.metadata.finalizers ?? [])).filter(
      (each) => !remove.some(({ value }) => value === each),
    );
    const next = [...kept, ...add.map(({ value }) => value).filter((value) => !kept.includes(value))];
    if (next.join() !== (pod.metadata.finalizers ?? []).join()) {
      await ctx.patch(Pod, name, { type: "merge", body: { metadata: { uid, finalizers: next } } });
    }
  }
  if (statusTemplate) {
    const text = renderTemplate(statusTemplate, pod, stageFunctions(nowMs, place));
    ctx.status((yaml().parse(text) ?? {}) as JsonObject);
  }
  if (isDeleted) await ctx.delete(Pod, name, { gracePeriodSeconds: 0, preconditions: { uid } });
}
