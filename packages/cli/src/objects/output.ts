import { stringify } from "yaml";
import { visible, visibleLines } from "../visible.js";

/** `json` and `yaml` for scripts; undefined where people read. */
export type OutputFormat = "json" | "yaml" | undefined;

/** The value of `-o`, whose choices the command table states. */
export function outputFormat(value: unknown): OutputFormat {
  return value === "json" || value === "yaml" ? value : undefined;
}

export function formatted(value: unknown, format: "json" | "yaml"): string {
  if (format === "json") return escapedJson(JSON.stringify(value, null, 2));
  const text = stringify(value, { lineWidth: 0, version: "1.1", aliasDuplicateObjects: false }).trimEnd();
  // YAML quotes most of them itself; of the rest, few texts have any.
  return visibleLines(text);
}

/** A value in one line. */
export function jsonLine(value: unknown): string {
  return escapedJson(JSON.stringify(value));
}

/** Means the same: in JSON, such characters stand in strings alone. */
function escapedJson(text: string): string {
  return text.replaceAll(RAW_CONTROL, jsonEscape);
}

/** Control characters that JSON leaves as they are. */
const RAW_CONTROL = /[\x7f-\x9f\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]/g;

function jsonEscape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/** Rows under their headings, each column as wide as its widest cell. Control characters in cells are shown as escapes. */
export function columns(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [headings.map((heading) => heading.toUpperCase()), ...rows].map((row) => row.map(visible));
  const widths = widthsOf(all);
  return all.map((row) => padded(row, widths)).join("\n");
}

export function widthsOf(rows: readonly (readonly string[])[]): readonly number[] {
  const count = Math.max(0, ...rows.map((row) => row.length));
  return Array.from({ length: count }, (_, at) => Math.max(...rows.map((row) => (row[at] ?? "").length)));
}

export function padded(row: readonly string[], widths: readonly number[]): string {
  return row
    .map((cell, at) => cell.padEnd(widths[at] ?? 0))
    .join("   ")
    .trimEnd();
}

export function indented(text: string, by = "  "): string {
  return text.replaceAll(/^(?=.)/gm, by);
}

/** `42s`, `3m20s`, `5h`, `12d`: how long ago, in the manner of kubectl. */
export function ageOf(time: string | undefined, now: number): string {
  const seconds = Math.floor((now - Date.parse(time ?? "")) / 1000);
  if (Number.isNaN(seconds)) return "<unknown>";
  if (seconds < 120) return `${Math.max(0, seconds)}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 10) return `${minutes}m${seconds % 60 === 0 ? "" : `${seconds % 60}s`}`;
  if (minutes < 180) return `${minutes}m`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours}h` : `${Math.floor(hours / 24)}d`;
}
