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
import { endPath, type IngestionTask, readTask, stateOf, statePath } from "./ingestion-task.js";
import { canonical, includes, isSame } from "./subset.js";

type Context = ReconcileContext<DruidIngestion>;
const COMPACTION = "/druid/coordinator/v1/config/compaction";
const LOOKUPS = "/druid/coordinator/v1/lookups/config";

/** Keeps tasks and supervisors of Druid, with compaction, rules and lookups, as each `DruidIngestion` says. */
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
      const druid = await ctx.get(Druid, object.spec.druidCluster);
      const url = urlOf(druid);
      if (url === undefined)
        return refuse(object, `spec.druidCluster: ${object.spec.druidCluster} has no router with a Service`, ctx);
      const access = await accessOf(druid, object.spec.auth ?? druid.spec.auth, url, ctx);
      ctx.status(required(object));
      const talk = new Conversation(object, task, api, access, ctx, clock);
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
      const task = readTask(object);
      const taskId = object.status?.taskId;
      if (!("kind" in task) || !taskId) return;
      const druid = await ctx.find(Druid, object.spec.druidCluster);
      const url = druid && !druid.metadata.deletionTimestamp ? urlOf(druid) : undefined;
      if (!druid || url === undefined) {
        ctx.event(
          "Warning",
          "DruidIngestionControllerDeleteFail",
          `${taskId} is not ended: the cluster ${object.spec.druidCluster} is gone`,
        );
        return;
      }
      const access = await accessOf(druid, object.spec.auth ?? druid.spec.auth, url, ctx);
      await ctx.effect(
        `POST ${endPath({ ...task, id: taskId })}`,
        async (signal) => {
          const isOver =
            task.kind !== "supervisor" &&
            stateOf(task.kind, await api.get(access, statePath({ ...task, id: taskId }), signal)).isOver;
          if (!isOver) await api.post(access, endPath({ ...task, id: taskId }), undefined, signal).catch(unlessGone);
        },
        { planned: undefined },
      );
      ctx.event("Normal", "DruidIngestionControllerDeleteSuccess", `${taskId} is ended`);
    },
  });
}

/** The published CRD requires these two fields of a status. */
function required({ status }: DruidIngestion) {
  return { taskId: status?.taskId ?? "", "currentIngestionSpec.json": status?.["currentIngestionSpec.json"] ?? "" };
}

function refuse(object: DruidIngestion, message: string, ctx: Context): void {
  ctx.event("Warning", "DruidOperatorInvalidSpec", message);
  ctx.condition({ type: "SpecValid", status: "False", reason: "InvalidSpec", message });
  ctx.status({ ...required(object), status: "Failed", reason: "DruidOperatorInvalidSpec", message });
}

function unlessGone(error: unknown): void {
  if (!(error instanceof DruidRefusal) || error.status !== 404) throw error;
}

/** What one run says to Druid about one ingestion. */
class Conversation {
  readonly #object: DruidIngestion;
  readonly #task: IngestionTask;
  readonly #api: DruidApi;
  readonly #access: DruidAccess;
  readonly #ctx: Context;
  readonly #clock: Clock;
  readonly #isUpdate: boolean;

  constructor(
    object: DruidIngestion,
    task: IngestionTask,
    api: DruidApi,
    access: DruidAccess,
    ctx: Context,
    clock: Clock,
  ) {
    this.#object = object;
    this.#task = task;
    this.#api = api;
    this.#access = access;
    this.#ctx = ctx;
    this.#clock = clock;
    this.#isUpdate = Boolean(object.status?.taskId);
  }

  /** Submits the spec unless it was: a task by its id, which Druid takes but once; a supervisor, which it compares. */
  async submit(): Promise<void> {
    const { kind, body, id, text } = this.#task;
    const { suspend, ingestion } = this.#object.spec;
    if (this.#isCurrent()) return;
    if (suspend && kind !== "supervisor") {
      this.#say({ status: "Suspended", reason: "Suspended", message: "it is submitted when it is resumed" });
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
        // Somebody was quicker with the same task: Druid takes an id but once.
        if (!(error instanceof DruidRefusal) || !(await this.#isKnown())) throw error;
      }
    }
    const reason = `DruidIngestionController${this.#isUpdate ? "Update" : "Create"}Success`;
    this.#ctx.event("Normal", reason, `${id} is submitted`);
    this.#ctx.status({
      taskId: id,
      type: ingestion.type,
      status: "Submitted",
      reason,
      message: "",
      lastUpdateTime: formatTime(this.#clock.now()),
      "currentIngestionSpec.json": text,
    });
  }

  async compact(): Promise<void> {
    const { compaction } = this.#object.spec.ingestion;
    const { dataSource } = this.#task;
    const path = `${COMPACTION}/${encodeURIComponent(dataSource)}`;
    if (compaction) {
      const wanted = { ...compaction, dataSource } as JsonObject;
      if (!includes((await this.#get(path)) ?? {}, wanted)) await this.#post(COMPACTION, wanted);
      this.#ctx.status({ compacted: true });
    } else if (this.#object.status?.compacted) {
      await this.#ctx.effect(`DELETE ${path}`, (signal) => this.#api.delete(this.#access, path, signal), {
        planned: undefined,
      });
      this.#ctx.status({ compacted: null });
    }
  }

  async rules(): Promise<void> {
    const { rules } = this.#object.spec.ingestion;
    const known = this.#object.status?.rules;
    if (isSame(known as JsonValue | undefined, rules as JsonValue | undefined) || (!rules && !known?.length)) return;
    await this.#post(
      `/druid/coordinator/v1/rules/${encodeURIComponent(this.#task.dataSource)}`,
      (rules ?? []) as JsonValue,
    );
    this.#ctx.status({ rules: (rules ?? []) as never });
  }

  async lookups(): Promise<void> {
    for (const [tier, named] of Object.entries(this.#object.spec.ingestion.lookups ?? {})) {
      for (const [name, lookup] of Object.entries(named)) {
        const path = `${LOOKUPS}/${encodeURIComponent(tier)}/${encodeURIComponent(name)}`;
        if (includes((await this.#get(path)) ?? null, lookup as JsonObject)) continue;
        // Lookups do not exist until they are set up once.
        if ((await this.#get(LOOKUPS)) === undefined) await this.#post(LOOKUPS, {});
        await this.#post(path, lookup as JsonObject);
      }
    }
  }

  /** Suspends or resumes, and takes down how it goes; true once there is nothing more to see. */
  async follow(): Promise<boolean> {
    const { kind, id } = this.#task;
    const { suspend } = this.#object.spec;
    if (kind !== "supervisor" && suspend && !this.#isCurrent()) return true;
    const state = stateOf(kind, await this.#get(statePath(this.#task)));
    if (kind === "supervisor" && (suspend ?? false) !== (state.status === "Suspended")) {
      await this.#post(
        `/druid/indexer/v1/supervisor/${encodeURIComponent(id)}/${suspend ? "suspend" : "resume"}`,
        undefined,
      );
      this.#say({ ...state, status: suspend ? "Suspended" : "Running" });
      return false;
    }
    this.#say(state);
    this.#ctx.condition({
      type: "Ready",
      status: state.status === "Failed" ? "False" : "True",
      reason: state.status,
      message: state.message,
    });
    return state.isOver;
  }

  fail(error: Error): void {
    const reason = `DruidIngestionController${this.#isUpdate ? "Update" : "Create"}Fail`;
    this.#ctx.event("Warning", reason, error.message);
    this.#say({ status: "Failed", reason, message: error.message });
    this.#ctx.condition({ type: "Ready", status: "False", reason, message: error.message });
  }

  async #isKnown(): Promise<boolean> {
    return (await this.#get(statePath(this.#task))) !== undefined;
  }

  #isCurrent(): boolean {
    const text = this.#object.status?.["currentIngestionSpec.json"];
    if (!text || !this.#object.status?.taskId) return false;
    try {
      return canonical(JSON.parse(text)) === this.#task.text;
    } catch {
      return false;
    }
  }

  #say({
    status,
    reason,
    message,
  }: {
    readonly status: string;
    readonly reason?: string;
    readonly message: string;
  }): void {
    this.#ctx.status({ status, message, ...(reason ? { reason } : {}) });
  }

  #get(path: string): Promise<JsonValue | undefined> {
    return this.#api.get(this.#access, path, this.#ctx.signal);
  }

  async #post(path: string, body: JsonValue | undefined): Promise<void> {
    await this.#ctx.effect(`POST ${path}`, (signal) => this.#api.post(this.#access, path, body, signal), {
      planned: {},
    });
  }
}
