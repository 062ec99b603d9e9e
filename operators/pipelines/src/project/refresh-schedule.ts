import type { RefreshSchedule } from "../model/model-spec.js";
import { faultAt } from "./problem-error.js";
import { booleanAt, durationAt, mapAt, type SettingMap, textAt } from "./setting.js";
import { placeOf } from "./source-text.js";

/** When a model runs by itself. In `dev` the clock is no reason, unless the file says so. */
export function scheduleOf(settings: SettingMap, environment: string): RefreshSchedule {
  const refresh = mapAt(settings, "refresh");
  if (!refresh) return { onRefs: true, disabled: false };
  if (booleanAt(refresh, "disable")) return { onRefs: false, disabled: true };
  const isTimed = environment !== "dev" || (booleanAt(refresh, "run_in_dev") ?? false);
  const [cron, zone] = [textAt(refresh, "cron"), textAt(refresh, "time_zone")];
  if (cron && !isCron(cron.text))
    throw faultAt(placeOf(cron, 0), `cron must have five fields, such as "0 6 * * 1-5", not ${cron.text}`);
  if (zone && !isTimeZone(zone.text)) throw faultAt(placeOf(zone, 0), `there is no time zone ${zone.text}`);
  const everyMs = durationAt(refresh, "every");
  const hasTime = isTimed && (cron !== undefined || everyMs !== undefined);
  return {
    ...(isTimed && cron && { cron: cron.text }),
    ...(isTimed && everyMs !== undefined && { everyMs }),
    ...(zone && { timeZone: zone.text }),
    onRefs: booleanAt(refresh, "ref_update") ?? !hasTime,
    disabled: false,
  };
}

const MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split(" ");
const DAYS = "sun mon tue wed thu fri sat".split(" ");
const FIELDS: readonly { readonly from: number; readonly to: number; readonly names?: readonly string[] }[] = [
  { from: 0, to: 59 },
  { from: 0, to: 23 },
  { from: 1, to: 31 },
  { from: 1, to: 12, names: MONTHS },
  { from: 0, to: 7, names: DAYS },
];

/** Whether a text is a cron expression of five fields, or one of cron's short names. */
export function isCron(text: string): boolean {
  if (/^@(yearly|annually|monthly|weekly|daily|midnight|hourly)$/.test(text)) return true;
  const fields = text.trim().split(/\s+/);
  return fields.length === 5 && fields.every((field, index) => field.split(",").every((part) => isRange(part, index)));
}

function isRange(part: string, index: number): boolean {
  const { from, to, names } = FIELDS[index]!;
  const [range = "", step, ...rest] = part.split("/");
  if (rest.length > 0 || (step !== undefined && !/^[1-9]\d*$/.test(step))) return false;
  if (range === "*" || range === "?") return true;
  const ends = range.split("-").map((end) => {
    const named = names?.indexOf(end.toLowerCase()) ?? -1;
    return named >= 0 ? named + (names === MONTHS ? 1 : 0) : /^\d+$/.test(end) ? Number(end) : Number.NaN;
  });
  return (
    ends.length <= 2 && ends.every((end) => end >= from && end <= to) && (ends[1] === undefined || ends[0]! <= ends[1])
  );
}

function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat("en-US", { timeZone: name });
    return true;
  } catch {
    return false;
  }
}
