const BOUNDS: readonly (readonly [name: string, least: number, most: number])[] = [
  ["minutes", 0, 59],
  ["hours", 0, 23],
  ["dom", 1, 31],
  ["month", 1, 12],
  ["dow", 0, 6],
];
const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const DAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];
const DESCRIPTORS = ["@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"];

/** The cron parser's error for a schedule; undefined for a valid one. */
export function cronComplaint(schedule: string): string | undefined {
  const spec = schedule.replace(/^(CRON_)?TZ=\S+\s*/, "").trim();
  if (spec.startsWith("@")) {
    if (DESCRIPTORS.includes(spec) || /^@every (\d+(\.\d+)?(h|m|s|ms|us|ns))+$/.test(spec)) return undefined;
    if (spec.startsWith("@every "))
      return `failed to parse duration ${spec}: time: invalid duration "${spec.slice(7)}"`;
    return `unrecognized descriptor: ${spec}`;
  }
  const fields = spec === "" ? [] : spec.split(/\s+/);
  if (fields.length !== 5) return `expected exactly 5 fields, found ${fields.length}: [${fields.join(" ")}]`;
  for (const [index, field] of fields.entries()) {
    for (const part of field.split(",")) {
      const complaint = rangeComplaint(part, BOUNDS[index]!);
      if (complaint !== undefined) return complaint;
    }
  }
  return undefined;
}

function rangeComplaint(text: string, [name, least, most]: readonly [string, number, number]): string | undefined {
  const [range = "", step, ...steps] = text.split("/");
  if (steps.length > 0) return `too many slashes: ${text}`;
  const [low = "", high, ...highs] = range.split("-");
  if (highs.length > 0) return `too many hyphens: ${text}`;
  let [start, end] = [least, most];
  if (low !== "*" && low !== "?") {
    const first = numberOf(low, name);
    if (typeof first === "string") return first;
    const last = high === undefined ? first : numberOf(high, name);
    if (typeof last === "string") return last;
    start = first;
    end = high === undefined && step !== undefined ? most : last;
  }
  if (step !== undefined) {
    const width = numberOf(step, "");
    if (typeof width === "string") return width;
    if (width === 0) return `step of range should be a positive number: ${text}`;
  }
  if (start < least) return `beginning of range (${start}) below minimum (${least}): ${text}`;
  if (end > most) return `end of range (${end}) above maximum (${most}): ${text}`;
  if (start > end) return `beginning of range (${start}) beyond end of range (${end}): ${text}`;
  return undefined;
}

function numberOf(text: string, field: string): number | string {
  const names = field === "month" ? MONTHS : field === "dow" ? DAYS : [];
  const named = names.indexOf(text.toLowerCase());
  if (named >= 0) return field === "month" ? named + 1 : named;
  if (/^\d+$/.test(text)) return Number(text);
  if (/^-\d+$/.test(text)) return `negative number (${text}) not allowed: ${text}`;
  return `failed to parse int from ${text}: strconv.Atoi: parsing "${text}": invalid syntax`;
}
