import { PipelinesError } from "../errors.js";
import { parseCron } from "../model/cron.js";
import type { RefreshSchedule } from "../model/model-spec.js";
import { faultAt } from "./problem-error.js";
import { booleanAt, durationAt, mapAt, type SettingMap, textAt } from "./setting.js";
import { placeOf } from "./source-text.js";

/**
 * When a model runs by itself. In `dev` the schedule does not apply, unless the file sets `run_in_dev`. New output of a
 * ref runs the model too, unless the file sets `ref_update: false`: otherwise its table would be stale.
 */
export function scheduleOf(settings: SettingMap, environment: string): RefreshSchedule {
  const refresh = mapAt(settings, "refresh");
  if (!refresh) return { onRefs: true, disabled: false };
  if (booleanAt(refresh, "disable")) return { onRefs: false, disabled: true };
  const isTimed = environment !== "dev" || (booleanAt(refresh, "run_in_dev") ?? false);
  const [cron, zone] = [textAt(refresh, "cron"), textAt(refresh, "time_zone")];
  const fault = cron && cronFault(cron.text);
  if (cron && fault) throw faultAt(placeOf(cron, 0), fault);
  if (zone && !isTimeZone(zone.text)) throw faultAt(placeOf(zone, 0), `there is no time zone ${zone.text}`);
  const everyMs = durationAt(refresh, "every");
  return {
    ...(isTimed && cron && { cron: cron.text }),
    ...(isTimed && everyMs !== undefined && { everyMs }),
    ...(zone && { timeZone: zone.text }),
    onRefs: booleanAt(refresh, "ref_update") ?? true,
    disabled: false,
  };
}

/** The error of a cron expression; undefined if it is valid. */
function cronFault(text: string): string | undefined {
  try {
    parseCron(text);
    return undefined;
  } catch (error) {
    if (!(error instanceof PipelinesError)) throw error;
    return error.message;
  }
}

function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat("en-US", { timeZone: name });
    return true;
  } catch {
    return false;
  }
}
