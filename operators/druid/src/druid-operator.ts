import { type App, app, type Duration, type KubeObject, type Loop, RefusedError, validating } from "setpoint";
import { type Clock, systemClock } from "setpoint/clock";
import { DruidApi, type DruidCall, httpCall } from "./api/druid-api.js";
import { dynamicConfigs } from "./api/dynamic-configs.js";
import { routerUrl } from "./api/endpoint.js";
import { readTask } from "./api/ingestion-task.js";
import { ingestions } from "./api/ingestions.js";
import { DruidQuestions } from "./cluster/druid-questions.js";
import { druids } from "./cluster/druids.js";
import { type ClusterSettings, DEFAULT_SETTINGS } from "./cluster/settings.js";
import { type Problem, validate } from "./cluster/validation.js";
import { Druid } from "./druid.js";
import { DruidIngestion } from "./druid-ingestion.js";

/** Set to `true` to make the operator ignore an object. */
export const IGNORED_ANNOTATION = "druid.apache.org/ignored";

export interface DruidOperatorOptions extends Partial<ClusterSettings> {
  /** The namespaces to watch. Defaults to all. */
  readonly namespaces?: readonly string[] | undefined;
  /** Namespaces whose objects are ignored. */
  readonly denied?: readonly string[] | undefined;
  /** How many objects are reconciled at once. Defaults to 4. */
  readonly concurrency?: number | undefined;
  /** How Druid is called. Defaults to HTTP. */
  readonly call?: DruidCall | undefined;
  /** Calls Druid at this URL instead of the router's Service, for an operator that runs outside the cluster. */
  readonly druidUrl?: string | undefined;
  /** How often to poll Druid's configuration, tasks and supervisors. Defaults to a minute. */
  readonly pollInterval?: Duration | undefined;
  /** Ignores `DruidIngestion` objects. */
  readonly isWithoutIngestion?: boolean | undefined;
  readonly clock?: Clock | undefined;
}

type Ignorable = KubeObject & { readonly spec?: { readonly ignored?: boolean } };

/** Whether the operator ignores an object. */
export function ignoredBy({ denied = [], namespaces }: DruidOperatorOptions): (object: Ignorable) => boolean {
  return ({ metadata, spec }) =>
    denied.includes(metadata.namespace ?? "") ||
    (namespaces !== undefined && !namespaces.includes(metadata.namespace ?? "")) ||
    metadata.annotations?.[IGNORED_ANNOTATION] === "true" ||
    spec?.ignored === true;
}

/** The operator's controllers. */
export function druidControllers(options: DruidOperatorOptions = {}): readonly Loop[] {
  const { clock = systemClock, namespaces, concurrency, druidUrl } = options;
  const given = Object.entries(options).filter(([key, value]) => key in DEFAULT_SETTINGS && value !== undefined);
  const settings: ClusterSettings = { ...DEFAULT_SETTINGS, ...Object.fromEntries(given) };
  const api = new DruidApi(options.call ?? httpCall(clock), clock);
  const urlOf = (druid: Druid): string | undefined => druidUrl ?? routerUrl(druid);
  const ignores = ignoredBy(options);
  const loop = { api, urlOf, ignores, namespaces, pollInterval: options.pollInterval ?? "1m" };
  return [
    druids({ settings, clock, urlOf, ignores, namespaces, concurrency, questions: new DruidQuestions(api, clock) }),
    dynamicConfigs(loop),
    ...(options.isWithoutIngestion ? [] : [ingestions({ ...loop, clock })]),
  ];
}

/** The controllers, with admission that rejects the same invalid objects. */
export function druidApp(options: DruidOperatorOptions = {}): App {
  const check = (problems: readonly Problem[]): void => {
    const message = problems.map(({ path, message }) => `${path}: ${message}`).join("; ");
    if (problems.length > 0) throw new RefusedError(422, "Invalid", message);
  };
  const checkDruid = (druid: Druid): void => check(validate(druid));
  const checkIngestion = (ingestion: DruidIngestion): void => {
    const task = readTask(ingestion);
    if (!("kind" in task)) check(task);
  };
  return app({
    name: "druid",
    kinds: [],
    unmanaged: [Druid, DruidIngestion],
    loops: druidControllers(options),
    validate: [
      validating(Druid, { create: checkDruid, update: checkDruid }),
      validating(DruidIngestion, { create: checkIngestion, update: checkIngestion }),
    ],
  });
}
