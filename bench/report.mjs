/**
 * @typedef {object} Row
 * @property {string} metric
 * @property {string} unit
 * @property {number} ours
 * @property {string} peer
 * @property {number} theirs
 * @property {number} ratio our cost over theirs: lower is better
 * @property {number} [atMost] the ratio that is still good enough; rows without are told, not judged
 * @property {"met" | "missed"} [verdict]
 */

/** The middle of the sorted values. */
export function median(values) {
  const sorted = [...values].sort((left, right) => left - right);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/**
 * One row from the rounds of both sides, costs each.
 * @returns {Row}
 */
export function compare(metric, unit, oursRounds, peer, theirsRounds) {
  const [ours, theirs] = [median(oursRounds), median(theirsRounds)];
  return { metric, unit, ours: rounded(ours), peer, theirs: rounded(theirs), ratio: rounded(ours / theirs) };
}

/**
 * As {@link compare}, of rates: the more the better, so that the ratio is theirs over ours.
 * @returns {Row}
 */
export function compareRates(metric, unit, oursRounds, peer, theirsRounds) {
  const row = compare(metric, unit, oursRounds, peer, theirsRounds);
  return { ...row, ratio: rounded(median(theirsRounds) / median(oursRounds)) };
}

/**
 * The row with a verdict: whether its ratio is at most `atMost`.
 * @returns {Row}
 */
export function judged(row, atMost) {
  return { ...row, atMost, verdict: row.ratio <= atMost ? "met" : "missed" };
}

export function printJson(rows) {
  console.log(JSON.stringify(rows, null, 2));
}

export function printTable(rows) {
  const isJudged = rows.some(({ verdict }) => verdict);
  const columns = ["metric", "unit", "ours", "peer", "theirs", "ratio", ...(isJudged ? ["atMost", "verdict"] : [])];
  const cells = [
    columns.map((column) => (column === "atMost" ? "at most" : column)),
    ...rows.map((row) => columns.map((column) => String(row[column] ?? ""))),
  ];
  const widths = cells[0].map((_, column) => Math.max(...cells.map((row) => row[column].length)));
  for (const row of cells)
    console.log(
      row
        .map((cell, column) => cell.padEnd(widths[column]))
        .join("  ")
        .trimEnd(),
    );
}

function rounded(value) {
  return Number(value.toPrecision(4));
}
