import { createHash } from "node:crypto";
import type { PartitionRecord } from "../engine/engine.js";
import type { PartitionCounts } from "./model-state.js";

type Values = Readonly<Record<string, unknown>>;

/** A partition as its query or glob lists it. The watermark is no part of what identifies it. */
export function listedPartition(row: Values, watermark: string | undefined): PartitionRecord {
  const { [watermark ?? ""]: mark, ...identity } = row;
  const key = createHash("md5").update(JSON.stringify(identity)).digest("hex");
  const isMarked = watermark !== undefined && mark !== null && mark !== undefined;
  return { key, values: row, ...(isMarked ? { watermark: String(mark) } : {}) };
}

/** Never loaded, asked for again, and not given up. */
export function isPending({ executedOn, skipped }: PartitionRecord): boolean {
  return executedOn === undefined && !skipped;
}

/**
 * The ledger after a look at what partitions there are: new ones, and those whose watermark has grown, are to be loaded. What is
 * listed no more stays, because its rows do. Returns only the records that change.
 */
export function listChanges(
  ledger: readonly PartitionRecord[],
  listed: readonly PartitionRecord[],
): readonly PartitionRecord[] {
  const known = new Map(ledger.map((record) => [record.key, record]));
  const seen = new Set<string>();
  return listed.filter((record) => {
    if (seen.has(record.key)) return false;
    seen.add(record.key);
    const before = known.get(record.key);
    if (!before) return true;
    return !before.skipped && hasGrown(before.watermark, record.watermark);
  });
}

function hasGrown(before: string | undefined, now: string | undefined): boolean {
  if (now === undefined || now === before) return false;
  if (before === undefined) return true;
  const [left, right] = [Number(before), Number(now)];
  return Number.isFinite(left) && Number.isFinite(right) ? right > left : now > before;
}

/** `executedOn` and `error` are gone: the partition is to be loaded. */
export function asked({ key, values, watermark }: PartitionRecord): PartitionRecord {
  return { key, values, ...(watermark === undefined ? {} : { watermark }) };
}

export function partitionCounts(ledger: readonly PartitionRecord[]): PartitionCounts {
  const skipped = ledger.filter((record) => record.skipped).length;
  const failed = ledger.filter((record) => record.error !== undefined && !record.skipped).length;
  return { total: ledger.length, pending: ledger.filter(isPending).length, failed, skipped };
}

/** A range of partitions by one of their values, both ends included; for a backfill and its preview. */
export interface PartitionRange {
  /** Defaults to the first value of the partition. */
  readonly column?: string;
  readonly from?: string;
  readonly to?: string;
}

/** The partitions of a range, in the order of the value that it is about. */
export function partitionsInRange(
  ledger: readonly PartitionRecord[],
  { column, from, to }: PartitionRange,
): readonly PartitionRecord[] {
  const rangeValue = ({ values }: PartitionRecord): unknown => values[column ?? Object.keys(values)[0] ?? ""];
  return ledger
    .filter((record) => {
      const value = rangeValue(record);
      if (value === null || value === undefined) return false;
      return (from === undefined || compare(value, from) >= 0) && (to === undefined || compare(value, to) <= 0);
    })
    .sort((left, right) => compare(rangeValue(left), rangeValue(right)));
}

/** Numbers as numbers. An end such as `2024-01-31` takes in all times of that day. */
function compare(left: unknown, right: unknown): number {
  const [a, b] = [Number(left), Number(right)];
  if (left !== "" && right !== "" && Number.isFinite(a) && Number.isFinite(b)) return a - b;
  const [leftText, rightText] = [String(left), String(right)];
  if (leftText.startsWith(rightText)) return 0;
  return leftText < rightText ? -1 : 1;
}
