import type { Duration } from "setpoint";
import { parseDuration } from "setpoint/clock";
import type { Druid } from "../druid.js";
import { ROLLOUT_ORDERS, type RolloutOrder } from "./order.js";

/** Prefix of the Druid annotations that override the operator's settings for one cluster. */
export const SETTING_PREFIX = "druid.setpoint.dev/";

export interface ClusterSettings {
  /** The update order of node groups. */
  readonly rolloutOrder: RolloutOrder;
  /** What to do with a child that somebody else changed. */
  readonly drift: "revert" | "report";
  /** What to do about a change of immutable fields: report it, or recreate the workload around its pods. */
  readonly immutableChanges: "refuse" | "recreate";
  /** How long to keep a claim that no pod needs. */
  readonly orphanGrace: Duration;
  /** How many pods of a historical, middle manager or indexer group to replace between checks; 0 for no checks. */
  readonly batch: number;
  /** How long a middle manager may finish its tasks before it is replaced. */
  readonly drainTimeout: Duration;
  /** How long a rollout waits while Druid is unreachable. */
  readonly unansweredTimeout: Duration;
}

export const DEFAULT_SETTINGS: ClusterSettings = {
  rolloutOrder: "seed",
  drift: "revert",
  immutableChanges: "refuse",
  orphanGrace: "60s",
  batch: 1,
  drainTimeout: "30m",
  unansweredTimeout: "2m",
};

const CHOICES: Partial<Record<keyof ClusterSettings, readonly string[]>> = {
  rolloutOrder: Object.keys(ROLLOUT_ORDERS),
  drift: ["revert", "report"],
  immutableChanges: ["refuse", "recreate"],
};

/** The annotation of a setting: `druid.setpoint.dev/rollout-order` for `rolloutOrder`. */
export function settingAnnotation(setting: string): string {
  return SETTING_PREFIX + setting.replace(/[A-Z]/g, (capital) => `-${capital.toLowerCase()}`);
}

/** The operator's settings, overridden by the object's annotations. Throws a `TypeError` for an invalid value. */
export function settingsOf({ metadata }: Pick<Druid, "metadata">, defaults: ClusterSettings): ClusterSettings {
  const given = (Object.keys(DEFAULT_SETTINGS) as (keyof ClusterSettings)[]).flatMap((setting) => {
    const text = metadata.annotations?.[settingAnnotation(setting)];
    return text === undefined ? [] : [[setting, readSetting(setting, text)]];
  });
  return { ...defaults, ...Object.fromEntries(given) };
}

export function readSetting(setting: keyof ClusterSettings, text: string): string | number {
  const choices = CHOICES[setting];
  if (choices) {
    if (choices.includes(text)) return text;
    throw new TypeError(`must be ${choices.slice(0, -1).join(", ")} or ${choices.at(-1)}, not ${JSON.stringify(text)}`);
  }
  if (setting === "batch") {
    if (/^\d{1,6}$/.test(text)) return Number(text);
    throw new TypeError(`must be a number of pods, not ${JSON.stringify(text)}`);
  }
  parseDuration(text as Duration, setting);
  return text;
}
