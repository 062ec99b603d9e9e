import type { DeleteOptions, Patch, SubresourceWrite } from "../client/client.js";
import type { NewCondition } from "../kinds/condition.js";
import type { Kind, ObjectOf } from "../kinds/kind.js";
import type { DeepPartial, KubeObject, NewObject, ObjectMeta, WrittenAs, writtenAs } from "../kinds/object.js";
import type { LoopContext } from "../loop/context.js";
import type { Logger } from "../loop/logger.js";
import type { Action, Cause } from "./causes/cause.js";
import type { IndexesOf, KindUse } from "./controller.js";
import type { Metrics } from "./metric-source.js";

export interface ReadOptions {
  /** Defaults to the namespace of the object that is reconciled. */
  readonly namespace?: string;
  /** False: the run does not repeat when what was read changes. */
  readonly tracked?: boolean;
  /** False: asks the server instead of the cache; such a read is never tracked. */
  readonly cached?: boolean;
}

export interface ListReadOptions extends ReadOptions {
  /** All namespaces that are watched, in place of one. */
  readonly namespaces?: "all";
  readonly labelSelector?: string;
  /**
   * `spec.nodeName=node-1`. A cached list takes any field that holds a string, number or boolean; one that asks the
   * server (`cached: false`) only those that the server offers for the kind.
   */
  readonly fieldSelector?: string;
}

export interface ChildOptions {
  /**
   * Paths (`spec.replicas`) that another manager may take over: they are applied while nobody else owns them, and left
   * alone while somebody does. One that leads through a list throws `CONTROLLER_INVALID`.
   */
  readonly yields?: readonly string[];
  /**
   * What to do with an object of that name that somebody else made. `refuse` (the default) throws `CHILD_NOT_OWNED`;
   * `adopt` takes it over, unless it has another controller.
   */
  readonly existing?: "refuse" | "adopt";
}

/** Stands where an index would, of kinds that have none: its field tells the reader of the compiler's message why. */
export type KindHasNoIndex = {
  readonly "this kind has no index: declare it with scoped(Kind, { indexes })"?: never;
};

/** The name of one index and the value to look up. */
export type IndexLookup<Index extends string> = [Index] extends [never]
  ? KindHasNoIndex
  : { readonly [Name in Index]?: string };

/** A child as a reconciler states it: no more than what it wants to own, and all that its kind requires. */
export type Desired<T extends KubeObject> = Stated<Omit<WrittenAs<T>, keyof KubeObject | "status" | typeof writtenAs>> &
  ChildIdentity<T>;

/** Whole objects within another (the claims of a StatefulSet) are stated as any, without what servers fill in. */
type Stated<T> = T extends KubeObject
  ? Stated<Omit<T, keyof KubeObject>> &
      Partial<Pick<T, "apiVersion" | "kind">> & { readonly metadata?: Partial<ObjectMeta> }
  : T extends readonly (infer Item)[]
    ? readonly Stated<Item>[]
    : T extends object
      ? { [Field in keyof T]: Stated<T[Field]> }
      : T;

/** Some fields of an object that somebody else has made: for `existing: "adopt"`. */
export type PartlyDesired<T extends KubeObject> = Omit<
  DeepPartial<WrittenAs<T>>,
  keyof KubeObject | "status" | typeof writtenAs
> &
  ChildIdentity<T>;

interface ChildIdentity<T extends KubeObject> {
  readonly apiVersion?: T["apiVersion"];
  readonly kind?: T["kind"];
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly finalizers?: readonly string[];
  };
}

/** Stands where a kind would that no declaration names: its field tells the reader of the compiler's message why. */
export interface KindIsNotDeclared {
  readonly "this kind is not declared: add it to uses, or to owns": never;
}

/** Stands where a kind would that is not owned: its field tells the reader of the compiler's message why. */
export interface KindIsNotOwned {
  readonly "only kinds that are owned are applied and pruned: add this one to owns": never;
}

/** A kind, if it is one of the `Known`. */
type Declared<K extends Kind, Known extends Kind> = Kind extends Known ? K : K extends Known ? K : KindIsNotDeclared;
/** A kind, if it is one of the `Owned`. */
type OwnedKind<K extends Kind, Owned extends Kind> = Kind extends Owned ? K : K extends Owned ? K : KindIsNotOwned;

/**
 * Reads and writes of declared kinds. Reads come from the cache, at least as new as the last write of this process; they
 * are tracked: when what was read changes, or what was not there appears, the run repeats.
 */
export interface ObjectAccess<
  Known extends Kind,
  Owned extends Kind,
  Uses extends readonly KindUse[] = readonly KindUse[],
> {
  /** Throws `DEPENDENCY_ABSENT` where the object is not there; left uncaught, the run waits for it. */
  get<K extends Kind>(kind: Declared<K, Known>, name: string, options?: ReadOptions): Promise<ObjectOf<K>>;
  find<K extends Kind>(kind: Declared<K, Known>, name: string, options?: ReadOptions): Promise<ObjectOf<K> | undefined>;
  /** In order of their keys. */
  list<K extends Kind>(kind: Declared<K, Known>, options?: ListReadOptions): Promise<readonly ObjectOf<K>[]>;
  /** The objects for which a declared index gave a value, in order of their keys: `byIndex(Pod, { node: "node-1" })`. */
  byIndex<K extends Kind>(
    kind: Declared<K, Known>,
    index: IndexLookup<IndexesOf<Uses, K>>,
    options?: Pick<ReadOptions, "tracked">,
  ): Promise<readonly ObjectOf<K>[]>;

  /**
   * Server-side apply with this controller's field manager, owned by the object that is reconciled. Costs no request
   * where the child is as desired; puts drift right; removes what is no longer stated. Gives the child as it then is.
   * What the kind requires must be stated, unless the object is another's that is adopted (`existing: "adopt"`). Throws
   * `KIND_NOT_DECLARED` for a kind that is not owned.
   */
  apply<K extends Kind>(
    kind: OwnedKind<K, Owned>,
    desired: Desired<ObjectOf<K>>,
    options?: ChildOptions,
  ): Promise<ObjectOf<K>>;
  apply<K extends Kind>(
    kind: OwnedKind<K, Owned>,
    desired: PartlyDesired<ObjectOf<K>>,
    options: ChildOptions & { readonly existing: "adopt" },
  ): Promise<ObjectOf<K>>;
  /** Creates an object once; owned like those that are applied where its kind is owned, but never pruned. */
  create<K extends Kind>(kind: Declared<K, Known>, object: NewObject<ObjectOf<K>>): Promise<ObjectOf<K>>;
  patch<K extends Kind>(
    kind: Declared<K, Known>,
    name: string,
    patch: Patch,
    options?: { readonly namespace?: string; readonly subresource?: string },
  ): Promise<ObjectOf<K>>;
  /** POSTs to a subresource (`binding`, `eviction`, `token`). */
  createSubresource<K extends Kind>(
    kind: Declared<K, Known>,
    name: string,
    request: Pick<SubresourceWrite, "subresource" | "body" | "namespace">,
  ): Promise<unknown>;
  /** Deletes an object; one that is not there is as good as deleted. */
  delete<K extends Kind>(
    kind: Declared<K, Known>,
    name: string,
    options?: Pick<DeleteOptions, "namespace" | "preconditions" | "propagation" | "gracePeriodSeconds">,
  ): Promise<void>;
  /**
   * Deletes the owned objects that this controller has applied, and this run has neither applied nor created; what others
   * made for the same object stays, and so does what was created once. Gives their keys.
   */
  prune(...kinds: readonly Owned[]): Promise<readonly string[]>;
}

export type StatusOf<T extends KubeObject> = T extends { readonly status?: infer Status } ? NonNullable<Status> : never;

/** Stands where a condition would, of kinds that cannot show one: its field tells the reader of the compiler's message why. */
export interface StatusHasNoConditions {
  readonly "the status of this kind has no conditions: add them to its schema": never;
}

/** A condition as a reconciler sets it, where the status of the kind has conditions. */
export type ConditionOn<T extends KubeObject> = "status" extends keyof T
  ? [StatusOf<T>] extends [never]
    ? StatusHasNoConditions
    : "conditions" extends keyof StatusOf<T>
      ? Omit<NewCondition, "observedGeneration">
      : string extends keyof StatusOf<T>
        ? Omit<NewCondition, "observedGeneration">
        : unknown extends T["status"]
          ? Omit<NewCondition, "observedGeneration">
          : StatusHasNoConditions
  : Omit<NewCondition, "observedGeneration">;

/**
 * What a reconciler works with in one run. Its methods throw `RUN_OVER` once the run has ended. They may be taken out of
 * it (`const { apply } = ctx`); a copy of the whole (`{ ...ctx }`) lacks `signal` and `log`, which are made when they are
 * asked for.
 */
export interface ReconcileContext<
  T extends KubeObject = KubeObject,
  Known extends Kind = Kind,
  Owned extends Kind = Kind,
  Uses extends readonly KindUse[] = readonly KindUse[],
  State extends object = Record<string, unknown>,
> extends ObjectAccess<Known, Owned, Uses>,
    LoopContext<Cause> {
  /** The causes in one word. */
  readonly action: Action;
  /** The fields of the object that changed since the last run, as far as that is known. */
  changedPaths(): readonly string[];
  /**
   * Ends the run as a wait where an object that the controller's `refs` name is not there, or its last run failed. The run
   * repeats when that has run.
   */
  requireRefs(): void;
  /**
   * Kept in memory from run to run until one is done: for what a retry should not do again. At first what the controller's
   * `state` makes.
   */
  readonly state: State;

  /** Merges into the status (null removes a field), which is written once at the end of the run, however it ends. */
  status(
    status: DeepPartial<StatusOf<T>> | { readonly [Field in keyof StatusOf<T>]?: StatusOf<T>[Field] | null },
  ): void;
  /**
   * Sets a condition with this generation; its transition time moves only when its status does. Throws
   * `CONDITIONS_MISSING` where the schema of the kind has no conditions.
   */
  condition(condition: ConditionOn<T>): void;
  event(type: "Normal" | "Warning", reason: string, message: string): void;
  readonly metrics: Metrics;
  /** The same reads and writes on another cluster that the manager knows. */
  in(cluster: string): ObjectAccess<Known, Owned, Uses>;
}

/** What a controller works with when an object is gone. */
export interface GoneContext {
  /** Aborted on timeout and shutdown, and when the lease is lost. */
  readonly signal: AbortSignal;
  readonly log: Logger;
  /** 0 for a first try, counting up while it throws. */
  readonly attempt: number;
  /** To take away what the object's runs have counted. */
  readonly metrics: Metrics;
}
