import type { JsonValue } from "setpoint";
import { type Clock, parseDuration } from "setpoint/clock";
import type { Pod } from "setpoint/kinds/v1";
import type { DruidAccess, DruidApi } from "../api/druid-api.js";
import type { Druid } from "../druid.js";
import type { ClusterContext } from "./cluster-pass.js";
import { Questions } from "./questions.js";
import { isReady } from "./rollout.js";
import type { ClusterSettings } from "./settings.js";

type Answer =
  | { readonly type: "yes" }
  | { readonly type: "no"; readonly why: string }
  | { readonly type: "unknown"; readonly why: string };

/** The questions that a rollout asks Druid before it continues. No run waits for an answer. */
export class DruidQuestions extends Questions {
  readonly #api: DruidApi;
  readonly #now: () => number;
  /** Since when a question has had no good answer, by key and question. */
  readonly #since = new Map<string, number>();
  /** How to reach each cluster. The run sets this, because only a run can read Secrets. */
  readonly #access = new Map<string, DruidAccess | undefined>();

  constructor(api: DruidApi, clock: Clock) {
    super(clock);
    this.#api = api;
    this.#now = () => clock.now();
  }

  override forget(key: string): void {
    super.forget(key);
    this.#access.delete(key);
    for (const id of this.#since.keys()) if (id.startsWith(`${key} `)) this.#since.delete(id);
  }

  learn(druid: Druid, access: DruidAccess | undefined): void {
    this.#access.set(keyOf(druid), access);
  }

  /** Why segments are not fully loaded; undefined if they are. */
  segments(
    druid: Druid,
    step: string,
    ctx: ClusterContext,
    { unansweredTimeout }: ClusterSettings,
  ): string | undefined {
    const access = this.#access.get(keyOf(druid));
    if (!access) return undefined;
    const ask = async (): Promise<Answer> => {
      const left = await this.#api.get(access, "/druid/coordinator/v1/loadstatus?simple");
      const counts = Object.entries((left ?? {}) as Record<string, JsonValue>).filter(([, count]) => Number(count) > 0);
      const why = `segments to load: ${counts.map(([source, count]) => `${source} ${count}`).join(", ")}`;
      return counts.length === 0 ? { type: "yes" } : { type: "no", why };
    };
    return this.#judge(druid, `segments ${step}`, ask, ctx, {
      unknownMs: parseDuration(unansweredTimeout, "unansweredTimeout"),
    });
  }

  /** Why these middle managers cannot be removed yet. Disables them, so that they accept no new tasks. */
  drained(
    druid: Druid,
    pods: readonly Pod[],
    port: number,
    ctx: ClusterContext,
    { unansweredTimeout, drainTimeout }: ClusterSettings,
  ): string | undefined {
    const known = this.#access.get(keyOf(druid));
    if (!known) return undefined;
    const limits = {
      unknownMs: parseDuration(unansweredTimeout, "unansweredTimeout"),
      noMs: parseDuration(drainTimeout, "drainTimeout"),
    };
    const reasons = pods.filter(isReady).map(({ metadata, status }) => {
      const access = { ...known, url: `${new URL(known.url).protocol}//${status?.podIP}:${port}` };
      const ask = async (): Promise<Answer> => {
        await this.#api.post(access, "/druid/worker/v1/disable", undefined);
        const tasks = ((await this.#api.get(access, "/druid/worker/v1/tasks")) ?? []) as readonly string[];
        return tasks.length === 0
          ? { type: "yes" }
          : { type: "no", why: `${metadata.name} still runs ${tasks.join(", ")}` };
      };
      return this.#judge(druid, `drained ${metadata.uid}`, ask, ctx, limits);
    });
    return reasons.filter(Boolean).join("; ") || undefined;
  }

  #judge(
    druid: Druid,
    question: string,
    ask: () => Promise<Answer>,
    ctx: ClusterContext,
    limits: { readonly unknownMs: number; readonly noMs?: number },
  ): string | undefined {
    const key = keyOf(druid);
    const id = `${key} ${druid.metadata.uid} ${question}`;
    const asked = () => ask().catch((error: Error): Answer => ({ type: "unknown", why: error.message }));
    const answer = this.ask(key, `${druid.metadata.uid} ${question}`, asked) ?? {
      type: "unknown",
      why: "waiting for Druid's answer",
    };
    if (answer.type === "yes") {
      this.#since.delete(id);
      return undefined;
    }
    const since = this.#since.get(id) ?? this.#now();
    this.#since.set(id, since);
    const limitMs = answer.type === "unknown" ? limits.unknownMs : (limits.noMs ?? Number.POSITIVE_INFINITY);
    if (this.#now() - since < limitMs) return answer.why;
    ctx.event(
      "Warning",
      "DruidNodeRollingDeployWait",
      `the rollout continues without an answer from Druid: ${answer.why}`,
    );
    return undefined;
  }
}

function keyOf({ metadata }: Druid): string {
  return `${metadata.namespace}/${metadata.name}`;
}
