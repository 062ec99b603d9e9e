import type { KubeObject } from "setpoint";
import type { Json, JsonObject } from "../api/json.js";
import { forbidden } from "../api/status-error.js";
import { nanosOf, object, quantityText } from "../builtin/validation/rule.js";
import type { AdmissionPlugin } from "../registry/write/admission.js";
import type { Storage, StoredObject } from "../storage/storage.js";
import { StorageConflict } from "../storage/storage-error.js";
import { type Amounts, amountOf, amountText, minus, NOTHING, plus } from "./pod-amounts.js";
import { isInScope } from "./resource-quota-scope.js";
import { usageOf } from "./resource-quota-usage.js";

const QUOTAS = "/resourcequotas";
/** If a quota counts one of these, every container must set it. */
const COMPUTE = /^(requests\.|limits\.)?(cpu|memory)$/;
const asJson = (value: KubeObject): JsonObject => value as unknown as JsonObject;

/**
 * The plugin ResourceQuota: rejects writes that would exceed a quota. Adds the usage of an admitted write to the
 * quota's status at once, so that the next write is checked against it. A quota has no effect until its status is set.
 */
export function resourceQuota(storage: Storage): AdmissionPlugin {
  return {
    name: "ResourceQuota",
    concerns: ({ namespace }) => namespace !== "" && storage.snapshot(QUOTAS)!.size > 0,
    async validate({ operation, definition, subresource, namespace, name, object: given, oldObject, dryRun }) {
      if (subresource !== "" || given === undefined || (operation !== "CREATE" && operation !== "UPDATE")) return;
      const { storageId, group, plural } = definition;
      const quotas = [...storage.snapshot(QUOTAS)!.entries({ namespace })];
      if (namespace === "" || quotas.length === 0) return;
      const before = oldObject === undefined ? {} : usageOf(storageId, oldObject);
      const wanted = added(usageOf(storageId, given), before);
      const refuse = (why: string): never => {
        throw forbidden({ group, resource: plural }, name, why);
      };
      const concerned = quotas.filter(({ object: quota }) => isInScope(asJson(quota), storageId, given));
      // Check all quotas before charging any: a rejected write uses nothing.
      for (const quota of concerned) {
        if (operation === "CREATE" && storageId === "/pods") requireCompute(asJson(quota.object), given, refuse);
        withUsed(quota, wanted, refuse);
      }
      if (dryRun) return;
      for (const { key } of concerned) {
        for (;;) {
          const head = storage.head(QUOTAS, key);
          const noted = head && withUsed(head, wanted, refuse);
          if (noted === undefined || (await committed(storage, head!, noted))) break;
        }
      }
    },
  };
}

async function committed(storage: Storage, head: StoredObject, noted: KubeObject): Promise<boolean> {
  try {
    await storage.commit({ resource: QUOTAS, key: head.key, expected: head, object: noted });
    return true;
  } catch (error) {
    if (error instanceof StorageConflict) return false;
    throw error;
  }
}

function added(now: Amounts, before: Amounts): Amounts {
  const names = new Set([...Object.keys(now), ...Object.keys(before)]);
  return Object.fromEntries([...names].map((name) => [name, minus(now[name] ?? NOTHING, before[name] ?? NOTHING)]));
}

/**
 * The quota with the wanted amounts added to its usage. Undefined if it counts none of them. Calls `refuse` if they
 * exceed the quota.
 */
function withUsed(
  { object: quota }: StoredObject,
  wanted: Amounts,
  refuse: (why: string) => never,
): KubeObject | undefined {
  const status = object(asJson(quota).status);
  const [hard, used] = [object(status.hard), object(status.used)];
  const names = Object.keys(hard)
    .filter((name) => (wanted[name] ?? NOTHING).nanos !== 0n)
    .sort();
  const total = (name: string) => plus(amountOf(used[name]), wanted[name]!);
  const exceeded = names.filter((name) => wanted[name]!.nanos > 0n && total(name).nanos > nanosOf(hard[name]));
  if (exceeded.length > 0) {
    const shown = (amount: (name: string) => string): string =>
      exceeded.map((name) => `${name}=${amount(name)}`).join(",");
    const requested = shown((name) => amountText(wanted[name]!));
    const [present, most] = [shown((name) => quantityText(used[name])), shown((name) => quantityText(hard[name]))];
    refuse(`exceeded quota: ${quota.metadata.name}, requested: ${requested}, used: ${present}, limited: ${most}`);
  }
  if (names.length === 0) return undefined;
  const next = Object.fromEntries(names.map((name) => [name, amountText(total(name))]));
  return { ...quota, status: { ...status, used: { ...used, ...next } } } as unknown as KubeObject;
}

/** If a quota counts cpu or memory, every container must set its request or limit. */
function requireCompute(quota: JsonObject, pod: KubeObject, refuse: (why: string) => never): void {
  const names = Object.keys(object(object(quota.status).hard))
    .filter((name) => COMPUTE.test(name))
    .sort();
  const containers = ["containers", "initContainers"].flatMap((field) => {
    const given: Json | undefined = object(asJson(pod).spec)[field];
    return Array.isArray(given) ? given.map(object) : [];
  });
  const missing = names.flatMap((name) => {
    const field = name.startsWith("limits.") ? "limits" : "requests";
    const resource = name.replace(/^(requests|limits)\./, "");
    const without = containers.filter(({ resources }) => object(object(resources)[field])[resource] === undefined);
    return without.length === 0 ? [] : [`${name} for: ${without.map((each) => String(each.name)).join(",")}`];
  });
  if (missing.length > 0)
    refuse(`failed quota: ${String(object(quota.metadata).name)}: must specify ${missing.join("; ")}`);
}
