import { existsSync } from "node:fs";
import { sqliteGraphStore } from "@setpoint/sqlite/graph-store";
import { systemClock } from "setpoint/clock";
import type { GraphResource } from "setpoint/graph";
import type { Project } from "../project/project.js";
import { openTables, type PipelinesOptions, readProject } from "./open-pipelines.js";
import { askEngine, type PlannedAction, planOf } from "./plan.js";
import type { StateFolder } from "./state-folder.js";

/** A project that no process runs on: its files, the resources in its catalog, and what a run would do. */
export interface PlannedFolder {
  readonly project: Project;
  readonly existing: readonly GraphResource[];
  readonly plan: readonly PlannedAction[];
}

/** Plans a run of the folder, and runs nothing. Holds the folder's lock meanwhile. */
export async function planFolder(place: StateFolder, options: PipelinesOptions): Promise<PlannedFolder> {
  await using tables = await openTables(place, options);
  const project = await readProject(place.project, options, tables.engine);
  const existing = storedResources(place);
  const { engine } = tables;
  const question = await askEngine({ project, existing, engine, schema: options.schema, nowMs: systemClock.now() });
  return { project, existing, plan: planOf(question) };
}

/** The resources in the catalog. */
function storedResources({ catalog }: StateFolder): readonly GraphResource[] {
  if (!existsSync(catalog)) return [];
  using session = openSession(catalog);
  return [...session.records()].flatMap(({ record }) => {
    const { meta, spec, state, trace } = record;
    if (meta.deletedOn !== undefined) return [];
    return [
      {
        meta,
        spec,
        state,
        status: "idle",
        warnings: trace?.warnings ?? [],
        ...(trace?.error ? { error: trace.error } : {}),
        ...(trace?.outputVersion === undefined ? {} : { outputVersion: trace.outputVersion }),
      } satisfies GraphResource,
    ];
  });
}

function openSession(catalog: string) {
  const session = sqliteGraphStore(catalog).open();
  if (session instanceof Promise) throw new TypeError("the store of SQLite opens at once");
  return session;
}
