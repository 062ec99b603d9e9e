import { isSetpointError, retry, terminal } from "setpoint";
import { systemClock, timeoutSignal } from "setpoint/clock";
import { type GraphContext, type GraphKind, type GraphReport, graphKind } from "setpoint/graph";
import type { PartitionRecord, TableFacts } from "../engine/engine.js";
import { PipelinesError } from "../errors.js";
import type { ModelDecision } from "./decide-model.js";
import { type ModelResource, ModelRun } from "./model-run.js";
import type { ModelServices } from "./model-services.js";
import type { ModelSpec } from "./model-spec.js";
import type { ModelState } from "./model-state.js";
import { asideName, runPartitions, writeOf } from "./partition-run.js";
import { dueAt } from "./schedule.js";

/** How often, in a row, a run that lost the engine's process is retried. */
const MAX_LOSSES = 5;

/** The kind `Model`: keeps tables and views as their files declare them. */
export function modelKind(services: ModelServices): GraphKind<ModelSpec, ModelState> {
  const clock = services.clock ?? systemClock;
  return graphKind<ModelSpec, ModelState>({
    name: "Model",
    whenRefsFinish: "changed",
    weight: { connections: 1 },
    async reconcile(model, ctx) {
      using deadline = timeoutSignal(clock, model.spec.timeoutMs, ctx.signal, () => {
        return new PipelinesError("PIPELINES_ENGINE_FAILED", `the run took longer than ${model.spec.timeoutMs} ms`);
      });
      try {
        return await reconcile(new ModelRun(services, model, ctx, deadline.signal), ctx);
      } catch (error) {
        ctx.signal.throwIfAborted();
        throw outcomeOf(error, model, ctx.attempt, clock.now());
      }
    },
    async remove({ spec }, ctx) {
      await ctx.effect("drop", async () => {
        await services.engine.drop(spec.output.table, services.schema);
        await services.engine.drop(asideName(spec.output.table), services.schema);
      });
    },
    async rename({ meta, spec }, { from, to }, ctx) {
      const isOf = (name: string): boolean => spec.output.table.toLowerCase() === name.toLowerCase();
      // A table whose name differs from the model's name keeps it.
      if (!isOf(meta.name.name) && !isOf(from.name)) return;
      await ctx.effect("rename", async () => {
        await services.engine.rename(from.name, to.name, services.schema);
        await services.engine.rename(asideName(from.name), asideName(to.name), services.schema);
      });
    },
  });
}

async function reconcile(run: ModelRun, ctx: GraphContext<ModelState>): Promise<GraphReport> {
  ctx.requireRefs();
  const facts = await run.facts();
  const decision = await run.decide(facts);
  if (decision.action === "paused") {
    run.show(decision, facts);
    throw terminal(new PipelinesError("PIPELINES_PAUSED", decision.reason));
  }
  const ledger = await execute(run, decision, facts);
  const after = decision.action === "none" ? facts : await run.facts();
  run.show(decision, after, ledger);
  const failed = ledger.filter((record) => record.error !== undefined && !record.skipped);
  if (failed.length > 0) {
    const [first] = failed;
    const message = `some partitions have errors (${failed.length} of ${ledger.length}); the first, ${JSON.stringify(first!.values)}: ${first!.error}`;
    throw new PipelinesError("PIPELINES_PARTITIONS_FAILED", message);
  }
  const runAgainAt =
    after.stamp && !run.spec.refresh.disabled ? dueAt(run.spec.refresh, after.stamp.builtOn) : undefined;
  return {
    ...(after.stamp ? { outputVersion: after.stamp.outputVersion } : {}),
    ...(runAgainAt === undefined ? {} : { runAgainAt }),
  };
}

/** Carries out the decision. Returns the ledger, which is empty for a model without partitions. */
async function execute(run: ModelRun, decision: ModelDecision, facts: TableFacts): Promise<readonly PartitionRecord[]> {
  const { fulfils } = decision;
  switch (decision.action) {
    case "view":
    case "replace": {
      const type = decision.action;
      await run.publish({ write: (sql) => ({ type, sql }), incremental: false, fulfils, isWhole: true }, undefined);
      break;
    }
    case "increment":
      await run.publish({ write: writeOf(run), incremental: true, fulfils, isWhole: true }, facts.stamp?.state);
      break;
    case "partitions":
      return runPartitions(run, decision, facts);
    case "tests":
      await run.republish({ type: "keep" }, { fulfils, ...kept(facts) });
      break;
    case "adopt":
      await run.republish({ type: "keep" }, { fulfils, tests: [], ...kept(facts) });
      break;
    case "share": {
      const [main] = await run.services.engine.inspect([run.table]);
      const sql = `SELECT * FROM main."${run.table.replaceAll('"', '""')}"`;
      const stamp = { ...run.stampOf(), outputVersion: main!.stamp!.outputVersion };
      await run.republish({ type: "view", sql }, { fulfils, stamp });
      break;
    }
  }
  return run.spec.partitions ? run.ledger() : [];

  /** The rows come from an earlier run, so the new stamp keeps that run's time, inputs and state. */
  function kept({ stamp }: TableFacts) {
    if (!stamp) return {};
    const { specHash, testHash } = run.stampOf();
    return { stamp: { specHash, testHash, inputs: stamp.inputs, builtOn: stamp.builtOn } };
  }
}

/**
 * The scheduler's outcome for a failure: retry after a delay, retry at the next scheduled time, or wait for a change.
 */
function outcomeOf(error: unknown, { spec }: ModelResource, attempt: number, nowMs: number): unknown {
  if (!(error instanceof Error)) return error;
  if (isSetpointError(error, "PIPELINES_ENGINE_LOST") && attempt < MAX_LOSSES) return retry(error);
  const { attempts, delayMs, exponential, matching } = spec.retry;
  if (attempt < attempts && matching.some((pattern) => new RegExp(pattern).test(error.message))) {
    return retry(error, { after: delayMs * (exponential ? 2 ** attempt : 1) });
  }
  const due = spec.refresh.disabled ? undefined : dueAt(spec.refresh, nowMs);
  return due === undefined ? terminal(error) : retry(error, { after: due - nowMs });
}
