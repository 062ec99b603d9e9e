import type { KubeObject } from "setpoint";
import { isSameJson } from "setpoint/kinds";
import type { Json, JsonObject } from "../../api/json.js";
import { object } from "../../builtin/validation/rule.js";
import { changeStatus } from "../../registry/loops/plane-write.js";
import { type LoopEnvironment, type RegistryLoop, WorkLoop } from "../../registry/loops/work-loop.js";
import type { Change, StoredObject } from "../../storage/storage.js";
import { type Amount, amountText, NOTHING, plus } from "../pod-amounts.js";
import { isInScope } from "../resource-quota-scope.js";
import { countedResource, usageOf } from "../resource-quota-usage.js";

const QUOTAS = "/resourcequotas";
const ACCOUNT = "resourcequota-controller";

/** A quota is recounted this long after its last write. The real controller recounts all quotas every five minutes. */
const RESYNC_MS = 10_000;

/** Keeps the usage in the status of quotas in step with the objects of their namespaces. */
export class QuotaStatus implements RegistryLoop {
  readonly #environment: LoopEnvironment;
  readonly #loop: WorkLoop;

  constructor(environment: LoopEnvironment) {
    this.#environment = environment;
    this.#loop = new WorkLoop(environment, (key, signal) => this.#count(key, signal));
  }

  /**
   * Recounts a quota when it is created or its spec changes, and when its namespace loses an object or a pod ends. A
   * create needs no recount: admission adds its usage before the object is stored, and a recount in between would lose
   * it. Each write of a status schedules one more recount, which corrects a count that came too early.
   */
  onChanges(changes: readonly Change[]): void {
    const quotas = this.#environment.storage.snapshot(QUOTAS)!;
    if (quotas.size === 0) return;
    for (const change of changes) {
      const { resource, key, object: changed } = change.current;
      const { namespace } = changed.metadata;
      if (resource === QUOTAS && change.type !== "deleted") {
        if (isRedefined(change)) this.#loop.add(key);
        else this.#loop.addAfter(key, RESYNC_MS);
      }
      if (namespace === undefined || !givesBack(change)) continue;
      for (const quota of quotas.entries({ namespace })) this.#loop.add(quota.key);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#loop[Symbol.asyncDispose]();
  }

  async #count(key: string, signal: AbortSignal): Promise<void> {
    const stored = this.#environment.storage.get(QUOTAS, key);
    if (stored === undefined || stored.object.metadata.deletionTimestamp !== undefined) return;
    const status = this.#statusOf(stored.object);
    if (isSameJson((asJson(stored.object).status ?? {}) as Json, status)) return;
    await changeStatus(this.#environment, stored, ACCOUNT, "kube-controller-manager", signal, (quota) => {
      return { ...quota, status: this.#statusOf(quota) } as unknown as KubeObject;
    });
  }

  #statusOf(quota: KubeObject): JsonObject {
    const hard = object(object(asJson(quota).spec).hard);
    // Resources that are not served are not counted, and get no usage.
    const served = new Set([...this.#environment.catalog.definitions()].map(({ storageId }) => storageId));
    const names = Object.keys(hard).filter((name) => served.has(countedResource(name) ?? ""));
    const totals: Record<string, Amount> = Object.fromEntries(names.map((name) => [name, NOTHING]));
    const { namespace = "" } = quota.metadata;
    for (const resource of new Set(names.flatMap((name) => countedResource(name) ?? []))) {
      for (const each of this.#environment.storage.snapshot(resource)!.entries({ namespace })) {
        if (!isInScope(asJson(quota), resource, each.object)) continue;
        for (const [name, amount] of Object.entries(usageOf(resource, each.object))) {
          if (totals[name] !== undefined) totals[name] = plus(totals[name], amount);
        }
      }
    }
    const used = Object.fromEntries(names.map((name) => [name, amountText(totals[name]!)]));
    return { hard, used };
  }
}

function isRedefined({ type, current, previous }: Change): boolean {
  if (type !== "modified") return type === "added";
  return !isSameJson(asJson(current.object).spec ?? null, asJson(previous!.object).spec ?? null);
}

/** Whether the change frees usage: an object was deleted, or a pod ended. */
function givesBack({ type, current, previous }: Change): boolean {
  if (type === "deleted") return true;
  if (type !== "modified" || current.resource !== "/pods") return false;
  const isOver = ({ object: pod }: StoredObject): boolean =>
    ["Succeeded", "Failed"].includes(String(object(asJson(pod).status).phase));
  return isOver(current) && !isOver(previous!);
}

function asJson(value: KubeObject): JsonObject {
  return value as unknown as JsonObject;
}
