import type { KubeObject } from "../../kinds/object.js";
import { messageOf } from "../../loop/outcome.js";
import { AppliedMemory } from "../apply/applied-memory.js";
import { OwnWrites } from "../apply/own-writes.js";
import type { Cause } from "../causes/cause.js";
import { ControllerSources } from "../causes/controller-sources.js";
import { DependencyIndex } from "../causes/dependency-index.js";
import type { Controller } from "../controller.js";
import { type ControllerEnvironment, masked } from "../environment.js";
import { isPaused } from "./directives.js";
import type { PlannedRun } from "./planned-run.js";
import { RunExecutor } from "./run-executor.js";

const FIRST: readonly Cause[] = [{ type: "created", isInInitialList: true }];

/**
 * Runs every object of a controller once, and returns what each run would do. The environment must have dry-run
 * clients. Reads see the actual state: if a run creates two objects, the second inside the first, the plan of the
 * second goes as far as the server allows.
 */
export async function* plannedRuns(
  // biome-ignore lint/suspicious/noExplicitAny: the kind's type cannot matter here
  controller: Controller<any>,
  environment: ControllerEnvironment,
  signal: AbortSignal,
): AsyncIterable<PlannedRun> {
  const planned = { ...masked(environment), isPlan: true };
  const nobody = (): void => {};
  using sources = new ControllerSources(controller, planned, {
    onPrimary: nobody,
    onDependency: nobody,
    onWatched: nobody,
  });
  using executor = new RunExecutor({
    controller,
    environment: planned,
    primary: sources.primary,
    dependencies: new DependencyIndex(),
    ownWrites: new OwnWrites(),
    applied: new AppliedMemory(),
    sourcesOf: (cluster) => sources.in(cluster),
    rivalOf: async () => undefined,
    onBlocked: nobody,
    signal,
  });
  sources.start();
  await sources.synced(signal);
  let id = 0;
  for (const key of [...sources.keys()].sort()) {
    signal.throwIfAborted();
    const object = sources.object(key);
    if (object) yield await plannedRun(controller, sources, executor, ++id, key, object);
  }
}

async function plannedRun(
  controller: Controller,
  sources: ControllerSources,
  executor: RunExecutor,
  id: number,
  key: string,
  object: KubeObject,
): Promise<PlannedRun> {
  const common = { controller: controller.name, kind: sources.primary.id, key };
  if (controller.ignores?.(object) || isPaused(object))
    return { ...common, writes: [], effects: [], outcome: "paused" };
  const state = controller.state();
  const request = { id, key, object, causes: FIRST, attempt: 0, isLastAttempt: false, state, origins: [] };
  const { run, outcome } = await executor.execute({ ...request, changedPaths: () => [] });
  const writes = run.writes.map(({ verb, kind, key, paths }) => ({ verb, kind, key, paths }));
  const { effects, endedByEffect } = run;
  if (endedByEffect !== undefined) {
    const reason = `the rest depends on the effect "${endedByEffect}"`;
    return { ...common, writes, effects, outcome: "unknown", reason };
  }
  const reason =
    outcome.type === "waitFor" ? outcome.reason : "error" in outcome ? messageOf(outcome.error) : undefined;
  return { ...common, writes, effects, outcome: outcome.type, ...(reason === undefined ? {} : { reason }) };
}
