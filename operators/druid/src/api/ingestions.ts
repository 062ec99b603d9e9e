import {
  type Controller,
  controller,
  type JsonObject,
  type JsonValue,
  type ReconcileContext,
  requeueAfter,
  retry,
} from "setpoint";
import type { Clock } from "setpoint/clock";
import { formatTime } from "setpoint/kinds";
import { Secret } from "setpoint/kinds/v1";
import { Druid } from "../druid.js";
import { DruidIngestion } from "../druid-ingestion.js";
import { type DruidAccess, type DruidApi, DruidRefusal } from "./druid-api.js";
import { DRUID_CONCURRENCY, type DruidLoopOptions } from "./druid-loop.js";
import { accessOf } from "./endpoint.js";
import {
  endPath,
  type IngestionTask,
  readTask,
  stateOf,
  statePath,
  submittedDataSource,
  submittedTask,
} from "./ingestion-task.js";
import { canonical, includes, isSame } from "./subset.js";

type Context = ReconcileContext<DruidIngestion>;
const COMPACTION = "/druid/coordinator/v1/config/compaction";
const LOOKUPS = "/druid/coordinator/v1/lookups/config";

/** Syncs each `DruidIngestion` to Druid: its task or supervisor, compaction, rules and lookups. */
export function ingestions(options: DruidLoopOptions & { readonly clock: Clock }): Controller<DruidIngestion> {
  const { api, urlOf, ignores, namespaces, pollInterval, clock } = options;
  return controller(DruidIngestion, {
    name: "druid-ingestion",
    conditions: "optional",
    finalizer: "druidingestion.datainfra.io/finalizer",
    uses: [Druid, Secret],
    namespaces,
    ignores,
    concurrency: DRUID_CONCURRENCY,
    async reconcile(object, ctx) {
      const task = readTask(object);
      if (!("kind" in task))
        return refuse(object, task.map(({ path, message }) => `${path}: ${message}`).join("; "), ctx);
      ctx.condition({ type: "SpecValid", status: "True", reason: "Valid" });
      ctx.status(required(object));
      const druid = await ctx.find(Druid, object.spec.druidCluster);
      if (!druid) {
        const missing = new Error(`spec.druidCluster: there is no Druid ${object.spec.druidCluster}`);
        return fail("DruidAPIGetRouterSvcUrlFailed", missing, ctx);
      }
      const url = urlOf(druid);
      if (url === undefined)
        return refuse(object, `spec.druidCluster: ${object.spec.druidCluster} has no router with a Service`, ctx);
      const access = await accessOf(druid, object.spec.auth ?? druid.spec.auth, url, ctx).catch(
        (error: Error) => error,
      );
      if (access instanceof Error) {
        fail("DruidAPIGetAuthCredsFailed", access, ctx);
        return retry(access);
      }
      const talk = new Conversation({ object, task, api, access, ctx, clock });
      try {
        await talk.submit();
        await talk.compact();
        await talk.rules();
        await talk.lookups();
        return (await talk.follow()) ? undefined : requeueAfter(pollInterval);
      } catch (error) {
        talk.fail(error as Error);
        return retry(error);
      }
    },
    async finalize(object, ctx) {
      const task = submittedTask(object);
      if (!task) return;
      const druid = await ctx.find(Druid, object.spec.druidCluster);
      const url = druid && !druid.metadata.deletionTimestamp ? urlOf(druid) : undefined;
      if (!druid || url === undefined) {
        ctx.event(
          "Warning",
          "DruidIngestionControllerDeleteFail",
          `${task.id} was not shut down: the cluster ${object.spec.druidCluster} is gone`,
        );
        return;
      }
      const access = await accessOf(druid, object.spec.auth ?? druid.spec.auth, url, ctx).catch((error: Error) => {
        fail("DruidAPIGetAuthCredsFailed", error, ctx);
        throw error;
      });
      await end(task, api, access, ctx);
      ctx.event("Normal", "DruidIngestionControllerDeleteSuccess", `${task.id} was shut down`);
    },
  });
}

/** Terminates a supervisor, or a task that is still running. */
async function end(
  task: Pick<IngestionTask, "kind" | "id">,
  api: DruidApi,
  access: DruidAccess,
  ctx: Context,
): Promise<void> {
  const run = async (signal: AbortSignal): Promise<void> => {
    const isOver =
      task.kind !== "supervisor" && stateOf(task.kind, await api.get(access, statePath(task), signal)).isOver;
    if (!isOver) await api.post(access, endPath(task), undefined, signal).catch(unlessGone);
  };
  await ctx.effect(`POST ${endPath(task)}`, run, { planned: undefined });
}

function fail(reason: string, { message }: Error, ctx: Context): void {
  ctx.event("Warning", reason, message);
  ctx.status({ status: "Failed", reason, message });
  ctx.condition({ type: "Ready", status: "False", reason, message });
}

/** The published CRD requires these two status fields. */
function required({ status }: DruidIngestion) {
  return { taskId: status?.taskId ?? "", "currentIngestionSpec.json": status?.["currentIngestionSpec.json"] ?? "" };
}

function refuse(object: DruidIngestion, message: string, ctx: Context): void {
  ctx.event("Warning", "DruidOperatorInvalidSpec", message);
  ctx.condition({ type: "SpecValid", status: "False", reason: "InvalidSpec", message });
  ctx.status({ ...required(object), status: "Failed", reason: "DruidOperatorInvalidSpec", message });
}

const compactionOf = (dataSource: string): string => `${COMPACTION}/${encodeURIComponent(dataSource)}`;

function unlessGone(error: unknown): void {
  if (!(error instanceof DruidRefusal) || error.status !== 404) throw error;
}

interface Subject {
  readonly object: DruidIngestion;
  readonly task: IngestionTask;
  readonly api: DruidApi;
  readonly access: DruidAccess;
  readonly ctx: Context;
  readonly clock: Clock;
}

/** The calls to Druid that one run makes for one ingestion. */
class Conversation {
  readonly #given: Subject;
  readonly #isUpdate: boolean;
  /** The datasource of the last submitted spec. */
  readonly #before: string | undefined;

  constructor(given: Subject) {
    this.#given = given;
    this.#isUpdate = Boolean(given.object.status?.taskId);
    this.#before = submittedDataSource(given.object);
  }

  /** Submits the spec unless it is current. Idempotent: Druid accepts a task id once, and compares supervisor specs. */
  async submit(): Promise<void> {
    const { kind, body, id, text } = this.#given.task;
    const { suspend, ingestion } = this.#given.object.spec;
    if (this.#isCurrent()) return;
    if (suspend && kind !== "supervisor") {
      this.#say({
        status: "Suspended",
        reason: "Suspended",
        message: "spec.suspend is set; the task is submitted when it is unset",
      });
      return;
    }
    if (kind === "supervisor") await this.#post("/druid/indexer/v1/supervisor?skipRestartIfUnmodified=true", body);
    else if (!(await this.#isKnown())) {
      const context = { ...(body.context as JsonObject | undefined), sqlQueryId: id.replace(/^query-/, "") };
      const [path, sent] =
        kind === "task" ? ["/druid/indexer/v1/task", { ...body, id }] : ["/druid/v2/sql/task", { ...body, context }];
      try {
        await this.#post(path as string, sent as JsonObject);
      } catch (error) {
        // An earlier request already submitted this task: Druid accepts each id only once.
        if (!(error instanceof DruidRefusal) || !(await this.#isKnown())) throw error;
      }
    }
    await this.#leave();
    const reason = `DruidIngestionController${this.#isUpdate ? "Update" : "Create"}Success`;
    this.#given.ctx.event("Normal", reason, `submitted ${id}`);
    this.#given.ctx.status({
      taskId: id,
      type: ingestion.type,
      status: "Submitted",
      reason,
      message: "",
      lastUpdateTime: formatTime(this.#given.clock.now()),
      "currentIngestionSpec.json": text,
    });
  }

  /** Terminates a replaced supervisor. Deletes our compaction of the old datasource if the datasource changed. */
  async #leave(): Promise<void> {
    const { kind, id } = this.#given.task;
    const old = submittedTask(this.#given.object);
    if (old?.kind === "supervisor" && (kind !== "supervisor" || old.id !== id))
      await end(old, this.#given.api, this.#given.access, this.#given.ctx);
    if (!this.#isMoved()) return;
    if (this.#given.object.status?.compacted) await this.#delete(compactionOf(this.#before!));
    // The old datasource keeps its rules: they govern data that still exists.
    this.#given.ctx.status({ compacted: null, rules: null });
  }

  async compact(): Promise<void> {
    const { compaction } = this.#given.object.spec.ingestion;
    const { dataSource } = this.#given.task;
    const path = compactionOf(dataSource);
    if (compaction) {
      const wanted = { ...compaction, dataSource } as JsonObject;
      if (!includes((await this.#get(path)) ?? {}, wanted)) await this.#post(COMPACTION, wanted);
      this.#given.ctx.status({ compacted: true });
    } else if (this.#given.object.status?.compacted && !this.#isMoved()) {
      await this.#delete(path);
      this.#given.ctx.status({ compacted: null });
    }
  }

  async rules(): Promise<void> {
    const { rules } = this.#given.object.spec.ingestion;
    const known = this.#isMoved() ? undefined : this.#given.object.status?.rules;
    if (isSame(known as JsonValue | undefined, rules as JsonValue | undefined) || (!rules && !known?.length)) return;
    await this.#post(
      `/druid/coordinator/v1/rules/${encodeURIComponent(this.#given.task.dataSource)}`,
      (rules ?? []) as JsonValue,
    );
    this.#given.ctx.status({ rules: (rules ?? []) as never });
  }

  /** Creates and updates lookups. Deletes removed ones only if this object created them. */
  async lookups(): Promise<void> {
    const wanted = this.#given.object.spec.ingestion.lookups ?? {};
    const known = this.#given.object.status?.lookups ?? {};
    const pathOf = (tier: string, name: string): string =>
      `${LOOKUPS}/${encodeURIComponent(tier)}/${encodeURIComponent(name)}`;
    for (const [tier, named] of Object.entries(wanted)) {
      for (const [name, lookup] of Object.entries(named)) {
        const path = pathOf(tier, name);
        if (includes((await this.#get(path)) ?? null, lookup as JsonObject)) continue;
        // Druid rejects lookups until the lookup configuration is initialized.
        if ((await this.#get(LOOKUPS)) === undefined) await this.#post(LOOKUPS, {});
        await this.#post(path, lookup as JsonObject);
      }
    }
    for (const [tier, names] of Object.entries(known)) {
      for (const name of names) if (!wanted[tier]?.[name]) await this.#delete(pathOf(tier, name));
    }
    const isAny = Object.keys(wanted).length > 0;
    const gone = Object.keys(known).filter((tier) => !wanted[tier]);
    const left = Object.entries(wanted).map(([tier, named]) => [tier, Object.keys(named).sort()]);
    const emptied = gone.map((tier) => [tier, null]);
    this.#given.ctx.status({ lookups: isAny ? Object.fromEntries([...emptied, ...left]) : null });
  }

  /** Suspends or resumes the supervisor and updates the status. Returns true once there is nothing left to poll. */
  async follow(): Promise<boolean> {
    const { kind, id } = this.#given.task;
    const { suspend } = this.#given.object.spec;
    if (kind !== "supervisor" && suspend && !this.#isCurrent()) return true;
    const state = stateOf(kind, await this.#get(statePath(this.#given.task)));
    if (kind === "supervisor" && (suspend ?? false) !== (state.status === "Suspended")) {
      await this.#post(
        `/druid/indexer/v1/supervisor/${encodeURIComponent(id)}/${suspend ? "suspend" : "resume"}`,
        undefined,
      );
      this.#say({ ...state, status: suspend ? "Suspended" : "Running" });
      return false;
    }
    this.#say(state);
    this.#given.ctx.condition({
      type: "Ready",
      status: state.status === "Failed" ? "False" : "True",
      reason: state.status,
      message: state.message,
    });
    return state.isOver;
  }

  fail(error: Error): void {
    fail(`DruidIngestionController${this.#isUpdate ? "Update" : "Create"}Fail`, error, this.#given.ctx);
  }

  /** Whether the datasource differs from the one submitted last. */
  #isMoved(): boolean {
    return this.#before !== undefined && this.#before !== this.#given.task.dataSource;
  }

  async #isKnown(): Promise<boolean> {
    return (await this.#get(statePath(this.#given.task))) !== undefined;
  }

  #isCurrent(): boolean {
    const text = this.#given.object.status?.["currentIngestionSpec.json"];
    if (!text || !this.#given.object.status?.taskId) return false;
    try {
      return canonical(JSON.parse(text)) === this.#given.task.text;
    } catch {
      return false;
    }
  }

  #say({ status, reason, message }: { readonly status: string; readonly reason?: string; readonly message: string }) {
    this.#given.ctx.status({ status, message, ...(reason ? { reason } : {}) });
  }

  async #delete(path: string): Promise<void> {
    const run = (signal: AbortSignal) => this.#given.api.delete(this.#given.access, path, signal);
    await this.#given.ctx.effect(`DELETE ${path}`, run, { planned: undefined });
  }

  #get(path: string): Promise<JsonValue | undefined> {
    return this.#given.api.get(this.#given.access, path, this.#given.ctx.signal);
  }

  async #post(path: string, body: JsonValue | undefined): Promise<void> {
    await this.#given.ctx.effect(
      `POST ${path}`,
      (signal) => this.#given.api.post(this.#given.access, path, body, signal),
      {
        planned: {},
      },
    );
  }
}
