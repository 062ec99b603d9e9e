import { isIPv4, isIPv6 } from "node:net";
import { regex } from "./regex.js";

/** Returns the check for a `format`; undefined for a format that kube-apiserver ignores. */
export function formatCheck(format: string): ((text: string) => boolean) | undefined {
  return FORMATS.get(format.replaceAll("-", ""));
}

const HOSTNAME =
  "^([a-zA-Z0-9\\p{S}\\p{L}]((-?[a-zA-Z0-9\\p{S}\\p{L}]{0,62})?)|([a-zA-Z0-9\\p{S}\\p{L}](([a-zA-Z0-9-\\p{S}\\p{L}]{0,61}[a-zA-Z0-9\\p{S}\\p{L}])?)(\\.)){1,}([a-zA-Z\\p{L}]){2,63})$";
const UUID = "(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$";
const UUID3 = "(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?3[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12}$";
const UUID4 = "(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?4[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$";
const UUID5 = "(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?5[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$";
const CREDIT_CARD =
  "^(?:4[0-9]{12}(?:[0-9]{3})?|5[1-5][0-9]{14}|(222[1-9]|22[3-9][0-9]|2[3-6][0-9]{2}|27[01][0-9]|2720)[0-9]{12}|6(?:011|5[0-9][0-9])[0-9]{12}|3[47][0-9]{13}|3(?:0[0-5]|[68][0-9])[0-9]{11}|(?:2131|1800|35\\d{3})\\d{11}|6[27][0-9]{14})$";
const RGB =
  "^rgb\\(\\s*(0|[1-9]\\d?|1\\d\\d?|2[0-4]\\d|25[0-5])\\s*,\\s*(0|[1-9]\\d?|1\\d\\d?|2[0-4]\\d|25[0-5])\\s*,\\s*(0|[1-9]\\d?|1\\d\\d?|2[0-4]\\d|25[0-5])\\s*\\)$";
const BASE64 = "^(?:[A-Za-z0-9+\\/]{4})*(?:[A-Za-z0-9+\\/]{2}==|[A-Za-z0-9+\\/]{3}=|[A-Za-z0-9+\\/]{4})$";
const MAC =
  "^([0-9a-fA-F]{2}(:[0-9a-fA-F]{2}){5,7}|[0-9a-fA-F]{2}(:[0-9a-fA-F]{2}){19}|[0-9a-fA-F]{2}(-[0-9a-fA-F]{2}){5,7}|[0-9a-fA-F]{2}(-[0-9a-fA-F]{2}){19}|[0-9a-fA-F]{4}(\\.[0-9a-fA-F]{4}){2,3}|[0-9a-fA-F]{4}(\\.[0-9a-fA-F]{4}){9})$";

const FORMATS: ReadonlyMap<string, (text: string) => boolean> = new Map([
  ["bsonobjectid", matching("^[0-9a-fA-F]{24}$")],
  ["uri", isRequestUri],
  ["email", isEmail],
  ["hostname", isHostname],
  ["ipv4", isSloppyIPv4],
  ["ipv6", (text: string) => text.includes(":") && isIPv6(text) && !text.includes("%")],
  ["cidr", isCidr],
  ["mac", matching(MAC)],
  ["uuid", matching(UUID)],
  ["uuid3", matching(UUID3)],
  ["uuid4", matching(UUID4)],
  ["uuid5", matching(UUID5)],
  ["isbn", (text: string) => isIsbn10(text) || isIsbn13(text)],
  ["isbn10", isIsbn10],
  ["isbn13", isIsbn13],
  ["creditcard", isCreditCard],
  ["ssn", (text: string) => text.length === 11 && matching("^\\d{3}[- ]?\\d{2}[- ]?\\d{4}$")(text)],
  ["hexcolor", matching("^#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$")],
  ["rgbcolor", matching(RGB)],
  ["byte", matching(BASE64)],
  ["password", () => true],
  ["date", isDate],
  ["duration", isDuration],
  ["datetime", isDateTime],
  ["k8sshortname", (text: string) => text.length <= 63 && matching("^[a-z0-9]([-a-z0-9]*[a-z0-9])?$")(text)],
  [
    "k8slongname",
    (text: string) =>
      text.length <= 253 && matching("^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$")(text),
  ],
]);

function matching(pattern: string): (text: string) => boolean {
  return (text) => {
    const compiled = regex(pattern);
    return "test" in compiled && compiled.test(text);
  };
}

function isRequestUri(text: string): boolean {
  if (/[\s\p{Cc}]/u.test(text) || /%(?![0-9a-fA-F]{2})/.test(text)) return false;
  return text.startsWith("/") || /^[a-zA-Z][a-zA-Z0-9+.-]*:/.test(text);
}

function isEmail(text: string): boolean {
  const address = /^(?:"(?:[^"\\]|\\.)*"\s*|[^<>"@,;]*)<([^<>]+)>\s*$/.exec(text)?.[1] ?? text.trim();
  return (
    /^(?:[A-Za-z0-9.!#$%&'*+/=?^_`{|}~\u0080-\uffff-]+|"(?:[^"\\]|\\.)+")@(?:[A-Za-z0-9\u0080-\uffff](?:[A-Za-z0-9._\u0080-\uffff-]*[A-Za-z0-9_\u0080-\uffff-])?|\[[^\]]+\])$/.test(
      address,
    ) && !/(^|[^"])\.\.|^\.|\.@/.test(address)
  );
}

function isHostname(text: string): boolean {
  if (!matching(HOSTNAME)(text) || Buffer.byteLength(text) > 255) return false;
  return text.split(".").every((label) => Buffer.byteLength(label) <= 63);
}

/** Tolerates leading zeros, as Go did before 1.17. */
function isSloppyIPv4(text: string): boolean {
  if (!text.includes(".")) return false;
  if (text.includes(":")) return isIPv6(text);
  return isIPv4(text.replace(/(^|\.)0+(?=\d)/g, "$1"));
}

function isCidr(text: string): boolean {
  const [address = "", length = "", ...rest] = text.split("/");
  if (rest.length > 0 || !/^\d{1,3}$/.test(length)) return false;
  if (address.includes(":")) return isIPv6(address) && Number(length) <= 128;
  return isSloppyIPv4(address) && Number(length) <= 32;
}

function isIsbn10(text: string): boolean {
  const digits = text.replace(/[\s-]/g, "");
  if (!/^(?:\d{9}X|\d{10})$/.test(digits)) return false;
  const sum = [...digits].reduce((total, digit, at) => total + (at + 1) * (digit === "X" ? 10 : Number(digit)), 0);
  return sum % 11 === 0;
}

function isIsbn13(text: string): boolean {
  const digits = text.replace(/[\s-]/g, "");
  if (!/^\d{13}$/.test(digits)) return false;
  const sum = [...digits.slice(0, 12)].reduce((total, digit, at) => total + (at % 2 === 0 ? 1 : 3) * Number(digit), 0);
  return Number(digits[12]) - ((10 - (sum % 10)) % 10) === 0;
}

function isCreditCard(text: string): boolean {
  const digits = text.replace(/[^0-9]+/g, "");
  if (!matching(CREDIT_CARD)(digits)) return false;
  const sum = [...digits].reverse().reduce((total, digit, at) => {
    const value = Number(digit) * (at % 2 === 0 ? 1 : 2);
    return total + (value > 9 ? value - 9 : value);
  }, 0);
  return sum % 10 === 0;
}

function isDate(text: string): boolean {
  const match = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text);
  if (match === null) return false;
  const [year, month, day] = match.slice(1).map(Number) as [number, number, number];
  return month >= 1 && month <= 12 && day >= 1 && day <= new Date(Date.UTC(year, month, 0)).getUTCDate();
}

function isDateTime(text: string): boolean {
  const [date = "", time, ...rest] = text.toLowerCase().split("t");
  if (text.length < 4 || time === undefined || rest.length > 0 || !isDate(date)) return false;
  const match = /^([0-9]{2}):([0-9]{2}):([0-9]{2})(.[0-9]+)?(z|([+-][0-9]{2}:[0-9]{2}))$/.exec(time);
  if (match === null) return false;
  return match[1]! <= "23" && match[2]! <= "59" && match[3]! <= "59";
}

const UNITS = ["ns", "nano", "us", "µs", "micro", "ms", "milli", "s", "sec", "m", "min", "h", "hr", "hour"];
const LONG_UNITS = ["nano", "micro", "milli", "sec", "min", "hour", "day", "week"];

/** Accepts what Go's `time.ParseDuration` accepts, and any text with a number and a unit, as in Scala durations. */
function isDuration(text: string): boolean {
  if (/^[+-]?(?:0|(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+)$/.test(text)) return true;
  for (const [, unit = ""] of text.matchAll(/\d+\s*([A-Za-zµ]+)/g)) {
    const name = unit.toLowerCase();
    if (UNITS.includes(name) || ["d", "w", "wk"].includes(name)) return true;
    if (LONG_UNITS.some((long) => name.startsWith(long))) return true;
  }
  return false;
}
