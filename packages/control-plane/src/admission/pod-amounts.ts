import type { Json, JsonObject } from "../api/json.js";
import { list, nanosOf, object } from "../builtin/validation/rule.js";
import { canonicalQuantity } from "../schema/quantity.js";

/** An amount of a resource. A sum uses the notation of its first non-zero term. */
export interface Amount {
  readonly nanos: bigint;
  /** Whether the quantity has a binary suffix (`Ki`, `Mi`, …). */
  readonly isBinary: boolean;
}

export type Amounts = Readonly<Record<string, Amount>>;

const BILLION = 1_000_000_000n;
const BINARY = ["Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
export const NOTHING: Amount = { nanos: 0n, isBinary: false };
export const ONE: Amount = { nanos: BILLION, isBinary: false };

export function amountOf(quantity: Json | undefined): Amount {
  return quantity === undefined ? NOTHING : { nanos: nanosOf(quantity), isBinary: /i$/.test(String(quantity)) };
}

export function plus(one: Amount, other: Amount): Amount {
  return { nanos: one.nanos + other.nanos, isBinary: one.nanos === 0n ? other.isBinary : one.isBinary };
}

export function minus(one: Amount, other: Amount): Amount {
  return plus(one, { ...other, nanos: -other.nanos });
}

export function amountText({ nanos, isBinary }: Amount): string {
  const whole = nanos / BILLION;
  if (!isBinary || nanos % BILLION !== 0n || whole < 1024n) return canonicalQuantity(`${nanos}n`);
  let [amount, unit] = [whole, -1];
  while (amount % 1024n === 0n && unit + 1 < BINARY.length) {
    amount /= 1024n;
    unit++;
  }
  return `${amount}${BINARY[unit] ?? ""}`;
}

/**
 * The effective requests or limits of a pod: its containers and sidecars together, or the largest init container with
 * the sidecars started before it, whichever is larger. Pod-level resources override these amounts. Overhead is added to
 * requests, and to limits that are set.
 */
export function podAmounts(spec: JsonObject, field: "requests" | "limits"): Amounts {
  const of = ({ resources }: JsonObject): Amounts => asAmounts(object(resources)[field]);
  let total = list(spec.containers).map(of).reduce(sum, {});
  let sidecars: Amounts = {};
  let most: Amounts = {};
  for (const container of list(spec.initContainers)) {
    const isSidecar = container.restartPolicy === "Always";
    const beside = sum(of(container), sidecars);
    if (isSidecar) {
      total = sum(total, of(container));
      sidecars = sum(sidecars, of(container));
    }
    most = larger(most, isSidecar ? sidecars : beside);
  }
  const needed = { ...larger(total, most), ...asAmounts(object(spec.resources)[field]) };
  const overhead = Object.entries(asAmounts(spec.overhead)).filter(([name]) => field === "requests" || needed[name]);
  return sum(needed, Object.fromEntries(overhead));
}

function asAmounts(quantities: Json | undefined): Amounts {
  return Object.fromEntries(Object.entries(object(quantities)).map(([name, each]) => [name, amountOf(each)]));
}

function sum(one: Amounts, other: Amounts): Amounts {
  const total: Record<string, Amount> = { ...one };
  for (const [name, amount] of Object.entries(other)) total[name] = plus(total[name] ?? NOTHING, amount);
  return total;
}

function larger(one: Amounts, other: Amounts): Amounts {
  const most: Record<string, Amount> = { ...one };
  for (const [name, amount] of Object.entries(other)) {
    if (most[name] === undefined || amount.nanos > most[name].nanos) most[name] = amount;
  }
  return most;
}
