import { createHash } from "node:crypto";
import type { PartitionRecord } from "../engine/engine.js";
import type { PartitionCounts } from "./model-state.js";

type Values = Readonly<Record<string, unknown>>;

/** The record of a partition that the query or glob lists. The watermark is not part of the key. */
export function listedPartition(row: Values, watermark: string | undefined): PartitionRecord {
  const { [watermark ?? ""]: mark, ...identity } = row;
  const key = createHash("md5").update(JSON.stringify(identity)).digest("hex");
  const isMarked = watermark !== undefined && mark !== null && mark !== undefined;
  return { key, values: row, ...(isMarked ? { watermark: String(mark) } : {}) };
}

/** Whether the partition must be loaded: it was never loaded or was requested again, and is not skipped. */
export function isPending({ executedOn, skipped }: PartitionRecord): boolean {
  return executedOn === undefined && !skipped;
}

/**
 * Compares the ledger with the partitions that exist now. Returns the records to load: new partitions, and those whose
 * watermark has grown. A partition that is no longer listed stays in the ledger, because its rows stay in the table.
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

/** The record without `executedOn` and `error`, which makes the partition pending. */
export function asked({ key, values, watermark }: PartitionRecord): PartitionRecord {
  return { key, values, ...(watermark === undefined ? {} : { watermark }) };
}

export function partitionCounts(ledger: readonly PartitionRecord[]): PartitionCounts {
  const skipped = ledger.filter((record) => record.skipped).length;
  const failed = ledger.filter((record) => record.error !== undefined && !record.skipped).length;
  return { total: ledger.length, pending: ledger.filter(isPending).length, failed, skipped };
}

/** Selects partitions by one of their values, for a backfill or its preview. Both ends are included. */
export interface PartitionRange {
  /** Defaults to the first column of the partition. */
  readonly column?: string;
  readonly from?: string;
  readonly to?: string;
}

/** The partitions in a range, sorted by the column of the range. */
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

/**
 * Compares numbers as numbers. A value that starts with `right` equals it, so the end `2024-01-31` includes all times
 * of that day.
 */
function compare(left: unknown, right: unknown): number {
  const [a, b] = [Number(left), Number(right)];
  if (left !== "" && right !== "" && Number.isFinite(a) && Number.isFinite(b)) return a - b;
  const [leftText, rightText] = [String(left), String(right)];
  if (leftText.startsWith(rightText)) return 0;
  return leftText < rightText ? -1 : 1;
}
