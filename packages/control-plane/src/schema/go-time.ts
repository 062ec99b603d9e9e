/** Thrown for text that Go's `time` package cannot parse. The message is kube-apiserver's. */
export class TimeError extends Error {}

const RFC3339 = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})(?:[.,](\d+))?(Z|[+-]\d{2}:\d{2})$/;
/** Already canonical: in UTC, with whole seconds, on a day that every month has. */
const PLAIN = /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\dZ$/;
/** A layout with fraction digits requires exactly that many. */
const MICROSECONDS = /^[^.,]*[.,]\d{6}(?!\d)/;

/** A time as kube-apiserver writes it: in UTC, with whole seconds or microseconds. */
export function canonicalTime(text: string, fractionDigits: 0 | 6 = 0): string {
  if (fractionDigits === 0 && PLAIN.test(text)) return text;
  const match = RFC3339.exec(text);
  const layout = fractionDigits === 0 ? "2006-01-02T15:04:05Z07:00" : "2006-01-02T15:04:05.000000Z07:00";
  if (match === null || (fractionDigits === 6 && !MICROSECONDS.test(text))) {
    const where = unparsed(text, fractionDigits);
    throw new TimeError(`parsing time ${JSON.stringify(text)} as "${layout}": cannot parse ${where}`);
  }
  const [, , month, day, hour, minute, second, fraction = ""] = match;
  const ms = Date.parse(`${text.slice(0, 19)}${match[8]}`);
  if (Number.isNaN(ms) || !isRealDay(Number(match[1]), Number(month), Number(day))) {
    const part =
      Number(month) > 12 || month === "00" ? "month" : hour! > "23" ? "hour" : minute! > "59" ? "minute" : "";
    const which = part || (second! > "59" ? "second" : "day");
    throw new TimeError(`parsing time ${JSON.stringify(text)}: ${which} out of range`);
  }
  const seconds = new Date(ms).toISOString().slice(0, 19);
  return fractionDigits === 0 ? `${seconds}Z` : `${seconds}.${fraction}Z`;
}

function isRealDay(year: number, month: number, day: number): boolean {
  return day >= 1 && day <= new Date(Date.UTC(year, month, 0)).getUTCDate();
}

/** The first part of the layout that the text does not match. */
function unparsed(text: string, fractionDigits: 0 | 6): string {
  const parts: [RegExp, string][] = [
    [/^\d{4}/, "2006"],
    [/^-/, "-"],
    [/^\d{2}/, "01"],
    [/^-/, "-"],
    [/^\d{2}/, "02"],
    [/^T/, "T"],
    [/^\d{2}/, "15"],
    [/^:/, ":"],
    [/^\d{2}/, "04"],
    [/^:/, ":"],
    [/^\d{2}/, "05"],
    fractionDigits === 6 ? [/^[.,]\d{6}/, ".000000"] : [/^(?:[.,]\d+)?/, ""],
    [/^(?:Z|[+-]\d{2}:\d{2})$/, "Z07:00"],
  ];
  let rest = text;
  for (const [part, name] of parts) {
    const match = part.exec(rest);
    if (match === null) return `${JSON.stringify(rest)} as ${JSON.stringify(name)}`;
    rest = rest.slice(match[0].length);
  }
  return `${JSON.stringify(rest)} as "Z07:00"`;
}

const UNIT_NANOS: Readonly<Record<string, number>> = {
  ns: 1,
  us: 1e3,
  µs: 1e3,
  μs: 1e3,
  ms: 1e6,
  s: 1e9,
  m: 60e9,
  h: 3600e9,
};

const MAX_INT64 = 2n ** 63n - 1n;
/** Maximum number of fraction digits to read. Further digits do not matter. */
const MOST_DIGITS = 18;

/** A duration as Go writes it: `90s` becomes `1m30s`. */
export function canonicalDuration(text: string): string {
  return formatDuration(durationNanos(text));
}

/** Parses a duration like Go's `time.ParseDuration`, into nanoseconds. */
export function durationNanos(text: string): bigint {
  const match = /^([+-]?)(?:0|((?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+))$/.exec(text);
  if (match === null) {
    const isMissingUnit = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)$/.test(text);
    throw new TimeError(`time: ${isMissingUnit ? "missing unit in" : "invalid"} duration ${JSON.stringify(text)}`);
  }
  let nanos = 0n;
  for (const [, whole = "", given = "", unit = ""] of (match[2] ?? "").matchAll(
    /(\d*)(?:\.(\d*))?(ns|us|µs|μs|ms|s|m|h)/g,
  )) {
    const scale = BigInt(UNIT_NANOS[unit]!);
    const fraction = given.slice(0, MOST_DIGITS);
    nanos += BigInt(whole || "0") * scale + (BigInt(fraction || "0") * scale) / 10n ** BigInt(fraction.length);
    if (nanos > MAX_INT64) throw new TimeError(`time: invalid duration ${JSON.stringify(text)}`);
  }
  return match[1] === "-" ? -nanos : nanos;
}

function formatDuration(nanos: bigint): string {
  if (nanos === 0n) return "0s";
  const sign = nanos < 0n ? "-" : "";
  const size = nanos < 0n ? -nanos : nanos;
  if (size < 1000n) return `${sign}${size}ns`;
  if (size < 1_000_000n) return `${sign}${decimal(size, 1000n)}µs`;
  if (size < 1_000_000_000n) return `${sign}${decimal(size, 1_000_000n)}ms`;
  const minutes = size / 60_000_000_000n;
  const seconds = `${decimal(size % 60_000_000_000n, 1_000_000_000n)}s`;
  if (minutes === 0n) return `${sign}${seconds}`;
  const hours = minutes / 60n;
  return `${sign}${hours === 0n ? "" : `${hours}h`}${minutes % 60n}m${seconds}`;
}

function decimal(value: bigint, unit: bigint): string {
  const fraction = (value % unit)
    .toString()
    .padStart(unit.toString().length - 1, "0")
    .replace(/0+$/, "");
  return fraction === "" ? `${value / unit}` : `${value / unit}.${fraction}`;
}
