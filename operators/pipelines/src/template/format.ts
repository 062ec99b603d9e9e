import { printed } from "./value.js";

/** Go's `printf`, with the verbs that make sense for plain values. */
export function formatted(format: string, values: readonly unknown[]): string {
  let next = 0;
  return format.replace(
    /%([-+ 0#]*)(\d+)?(?:\.(\d+))?([a-zA-Z%])/g,
    (_match, flags: string, width, precision, verb) => {
      if (verb === "%") return "%";
      if (next >= values.length) return `%!${verb}(MISSING)`;
      const text = verbText(verb, values[next++], precision === undefined ? undefined : Number(precision), flags);
      if (width === undefined) return text;
      if (flags.includes("-")) return text.padEnd(Number(width));
      return flags.includes("0") && /^[-+]?\d/.test(text)
        ? text.replace(
            /^([-+]?)(.*)$/,
            (_all, sign: string, rest: string) => sign + rest.padStart(Number(width) - sign.length, "0"),
          )
        : text.padStart(Number(width));
    },
  );
}

function verbText(verb: string, value: unknown, precision: number | undefined, flags: string): string {
  const signed = (text: string) => (flags.includes("+") && !text.startsWith("-") ? `+${text}` : text);
  switch (verb) {
    case "d":
      return signed(String(Math.trunc(Number(value))));
    case "f":
      return signed(Number(value).toFixed(precision ?? 6));
    case "e":
      return signed(Number(value).toExponential(precision ?? 6));
    case "x":
      return typeof value === "number" ? value.toString(16) : Buffer.from(printed(value)).toString("hex");
    case "q":
      return JSON.stringify(printed(value));
    case "t":
      return String(Boolean(value));
    case "s":
    case "v":
    case "g":
      return precision === undefined || verb === "g" ? printed(value) : printed(value).slice(0, precision);
    default:
      return `%!${verb}(${printed(value)})`;
  }
}

const MONTHS = "January February March April May June July August September October November December".split(" ");
const DAYS = "Sunday Monday Tuesday Wednesday Thursday Friday Saturday".split(" ");

/** Formats a date by a layout of Go: it shows how Monday, 2 January 2006, 15:04:05 would be written. */
export function formattedDate(layout: string, date: Date, timeZone = "UTC"): string {
  const zoned = new Intl.DateTimeFormat("en-US", {
    timeZone,
    hourCycle: "h23",
    ...{ year: "numeric", month: "numeric", day: "numeric", hour: "numeric", minute: "numeric", second: "numeric" },
  } as Intl.DateTimeFormatOptions);
  const parts = Object.fromEntries(zoned.formatToParts(date).map(({ type, value }) => [type, Number(value)]));
  const [year = 0, month = 0, day = 0, hour = 0] = [parts.year, parts.month, parts.day, parts.hour];
  const utc = Date.UTC(year, month - 1, day, hour, parts.minute, parts.second);
  const offset = Math.round((utc - Math.floor(date.getTime() / 1000) * 1000) / 60_000);
  const two = (value: number) => String(value).padStart(2, "0");
  const zone = (colon: string) =>
    `${offset < 0 ? "-" : "+"}${two(Math.floor(Math.abs(offset) / 60))}${colon}${two(Math.abs(offset) % 60)}`;
  const weekday = DAYS[new Date(utc).getUTCDay()]!;
  const words: Readonly<Record<string, () => string>> = {
    "2006": () => String(year).padStart(4, "0"),
    "06": () => two(year % 100),
    January: () => MONTHS[month - 1]!,
    Jan: () => MONTHS[month - 1]!.slice(0, 3),
    "01": () => two(month),
    "1": () => String(month),
    Monday: () => weekday,
    Mon: () => weekday.slice(0, 3),
    "02": () => two(day),
    _2: () => String(day).padStart(2),
    "2": () => String(day),
    "15": () => two(hour),
    "03": () => two(hour % 12 || 12),
    "3": () => String(hour % 12 || 12),
    "04": () => two(parts.minute ?? 0),
    "05": () => two(parts.second ?? 0),
    PM: () => (hour < 12 ? "AM" : "PM"),
    pm: () => (hour < 12 ? "am" : "pm"),
    ".000": () => `.${String(date.getUTCMilliseconds()).padStart(3, "0")}`,
    "Z07:00": () => (offset === 0 ? "Z" : zone(":")),
    "-07:00": () => zone(":"),
    "-0700": () => zone(""),
    MST: () => (offset === 0 ? "UTC" : zone("")),
  };
  return layout.replace(
    /2006|January|Jan|Monday|Mon|MST|Z07:00|-07:00|-0700|\.000|06|01|02|03|04|05|_2|15|PM|pm|1|2|3/g,
    (word) => words[word]!(),
  );
}
