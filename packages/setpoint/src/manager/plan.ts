import type { App } from "../app/app.js";
import type { Client } from "../client/client.js";
import type { Clock } from "../clock/clock.js";
import { type Random, systemRandom } from "../clock/random.js";
import { systemClock } from "../clock/system-clock.js";
import type { Cluster } from "../controller/cluster.js";
import type { Loop } from "../controller/loop.js";
import type { PlannedRun } from "../controller/run/planned-run.js";
import { Informers } from "../informer/informers.js";
import type { Logger } from "../loop/logger.js";
import { loopsOf } from "./loops.js";

export interface PlanOptions {
  readonly client: Client;
  readonly clusters?: Readonly<Record<string, Client>>;
  readonly clock?: Clock;
  readonly random?: Random;
  readonly log?: Logger;
  readonly signal?: AbortSignal;
}

/**
 * What these controllers would do now: reconciles each object once, with dry-run writes and without effects. Changes
 * nothing. Watchers have no plan and are skipped.
 *
 * ```ts
 * for await (const run of plan([websites], { client })) for (const line of describePlan(run)) console.log(line);
 * ```
 */
export async function* plan(loops: readonly (Loop | App)[], options: PlanOptions): AsyncIterable<PlannedRun> {
  const { clock = systemClock, random = systemRandom, log, signal = new AbortController().signal } = options;
  // Loaded on first use: most processes plan nothing.
  const { plannedRuns } = await import("../controller/run/planned-runs.js");
  const opened: Informers[] = [];
  const cluster = (given: Client): Cluster => {
    const client = given.with({ dryRun: true });
    const informers = new Informers(client, { clock, random });
    opened.push(informers);
    return { client, informers, isPlan: true };
  };
  const environment = {
    cluster: cluster(options.client),
    clusters: Object.fromEntries(
      Object.entries(options.clusters ?? {}).map(([name, client]) => [name, cluster(client)]),
    ),
    clock,
    random,
    ...(log ? { log } : {}),
  };
  try {
    for (const loop of loopsOf(loops)) {
      if (loop.type === "controller") yield* plannedRuns(loop, environment, signal);
    }
  } finally {
    await Promise.all(opened.map((informers) => informers[Symbol.asyncDispose]()));
  }
}
