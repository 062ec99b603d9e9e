import { SetpointError } from "../../errors/error.js";
import type { NewCondition } from "../../kinds/condition.js";
import { conditionSupport } from "../../kinds/condition-support.js";
import { type Kind, kindId } from "../../kinds/kind.js";
import type { JsonObject, KubeObject, NewObject } from "../../kinds/object.js";
import type { Logger } from "../../loop/logger.js";
import { ChildWriter, type ChildWriterOptions } from "../apply/child-writer.js";
import { type Action, actionOf, type Cause } from "../causes/cause.js";
import { ObjectReader, type Sources } from "../causes/object-reader.js";
import type { ObjectAccess, ReconcileContext } from "../context.js";
import type { EventRecorder } from "../event-recorder.js";
import type { Metrics } from "../metric-source.js";
import type { StatusDraft } from "../status/status-draft.js";
import type { ReconcileRun } from "./reconcile-run.js";

export interface RunContextOptions extends ChildWriterOptions {
  readonly run: ReconcileRun;
  readonly causes: readonly Cause[];
  readonly attempt: number;
  /** Set for controllers with `finalize`. */
  readonly finalizer: string | undefined;
  readonly state: Record<string, unknown>;
  readonly draft: StatusDraft;
  /** Makes the logger of the run on first use. */
  readonly log: () => Logger;
  readonly recorder: EventRecorder | undefined;
  readonly metrics: Metrics;
  readonly changedPaths: () => readonly string[];
  readonly requireRefs: () => void;
  readonly isPlan: boolean;
  /** Without a name, the manager's own cluster. */
  readonly sourcesOf: (cluster: string | undefined) => Sources;
}

/** The context of one run. */
export function runContext(options: RunContextOptions): ReconcileContext {
  return new RunContext(options) as unknown as ReconcileContext;
}

type Access = ObjectAccess<Kind, Kind>;

/**
 * Members are own properties, so that code may destructure them, except for the two that are expensive to make:
 * accessors in an object literal cost more than the rest of a run's set-up.
 */
class RunContext {
  readonly get: Access["get"];
  readonly find: Access["find"];
  readonly list: Access["list"];
  readonly byIndex: Access["byIndex"];
  readonly apply: Access["apply"];
  readonly create: Access["create"];
  readonly patch: Access["patch"];
  readonly createSubresource: Access["createSubresource"];
  readonly delete: Access["delete"];
  readonly prune: Access["prune"];
  readonly in: (cluster: string) => Access;
  readonly causes: readonly Cause[];
  readonly action: Action;
  readonly changedPaths: () => readonly string[];
  readonly requireRefs: () => void;
  readonly attempt: number;
  readonly state: Record<string, unknown>;
  readonly status: (status: unknown) => void;
  readonly condition: (condition: Omit<NewCondition, "observedGeneration">) => void;
  readonly event: ReconcileContext["event"];
  readonly metrics: Metrics;
  readonly effect: ReconcileContext["effect"];
  readonly #options: RunContextOptions;
  #log: Logger | undefined;

  constructor(options: RunContextOptions) {
    const { run, draft } = options;
    const { object } = run;
    const home = accessTo(options, undefined);
    this.#options = options;
    this.get = home.get;
    this.find = home.find;
    this.list = home.list;
    this.byIndex = home.byIndex;
    this.apply = home.apply;
    this.create = home.create;
    this.patch = home.patch;
    this.createSubresource = home.createSubresource;
    this.delete = home.delete;
    this.prune = home.prune;
    this.in = (cluster) => accessTo(options, cluster);
    this.causes = options.causes;
    this.action = actionOf(options.causes, object, options.finalizer);
    this.changedPaths = options.changedPaths;
    this.requireRefs = options.requireRefs;
    this.attempt = options.attempt;
    this.state = options.state;
    this.status = (status) => {
      run.assertOpen();
      draft.merge(status);
    };
    this.condition = (condition) => {
      run.assertOpen();
      if (conditionSupport(run.kind) === "none") throw conditionsMissing(run.kind, "the schema of its status has none");
      draft.condition(withGeneration(condition, object));
    };
    this.event = (type, reason, message) => {
      run.assertOpen();
      options.recorder?.record({ object, type, reason, message });
    };
    this.metrics = options.metrics;
    this.effect = async (name, effect, inPlan) => {
      run.assertMayWrite();
      run.effects.push(name);
      if (!options.isPlan) return effect(run.signal);
      if (inPlan) return inPlan.planned;
      run.endedByEffect = name;
      throw new SetpointError("EFFECT_NOT_RUN", `${run.key}: a plan does not run the effect "${name}"`);
    };
  }

  get signal(): AbortSignal {
    return this.#options.run.currentSignal();
  }

  get log(): Logger {
    this.#log ??= this.#options.log();
    return this.#log;
  }
}

/** The error for a condition that the kind's status drops: nobody would see it, and each run would write it again. */
export function conditionsMissing(kind: Kind, why: string): SetpointError {
  const cure = "add conditions to the schema of its status, and install its CustomResourceDefinition";
  return new SetpointError("CONDITIONS_MISSING", `${kindId(kind)} cannot show conditions: ${why}; ${cure}`);
}

function accessTo(options: RunContextOptions, cluster: string | undefined): Access {
  const sources = options.sourcesOf(cluster);
  return objectAccess(new ObjectReader(options.run, sources), new ChildWriter(options.run, sources, options));
}

export function withGeneration(condition: Omit<NewCondition, "observedGeneration">, object: KubeObject): NewCondition {
  const { generation } = object.metadata;
  return { ...condition, ...(generation === undefined ? {} : { observedGeneration: generation }) };
}

/** The typed interface for reads and writes; internally, kinds are known only by their declarations. */
function objectAccess(reader: ObjectReader, writer: ChildWriter): ObjectAccess<Kind, Kind> {
  const access = {
    get: (...given: Parameters<ObjectReader["get"]>) => reader.get(...given),
    find: (...given: Parameters<ObjectReader["find"]>) => reader.find(...given),
    list: (...given: Parameters<ObjectReader["list"]>) => reader.list(...given),
    byIndex: (...given: Parameters<ObjectReader["byIndex"]>) => reader.byIndex(...given),
    apply: (kind: Kind, desired: unknown, options?: Parameters<ChildWriter["apply"]>[2]) =>
      writer.apply(kind, desired as JsonObject, options),
    create: (kind: Kind, object: NewObject<KubeObject>) => writer.create(kind, object),
    patch: (...given: Parameters<ChildWriter["patch"]>) => writer.patch(...given),
    createSubresource: (...given: Parameters<ChildWriter["createSubresource"]>) => writer.createSubresource(...given),
    delete: (...given: Parameters<ChildWriter["delete"]>) => writer.delete(...given),
    prune: (...kinds: readonly Kind[]) => writer.prune(kinds),
  };
  return access as unknown as ObjectAccess<Kind, Kind>;
}
