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
  /** Defaults to the namespace of the reconciled object. */
  readonly namespace?: string;
  /** False: a change of what was read does not run the object again. */
  readonly tracked?: boolean;
  /** False: reads from the server instead of the cache. Such a read is never tracked. */
  readonly cached?: boolean;
}

export interface ListReadOptions extends ReadOptions {
  /** All watched namespaces instead of one. */
  readonly namespaces?: "all";
  readonly labelSelector?: string;
  /**
   * `spec.nodeName=node-1`. A cached list accepts any field with a string, number or boolean; with `cached: false`,
   * only the fields that the server supports for the kind.
   */
  readonly fieldSelector?: string;
}

export interface ChildOptions {
  /**
   * Paths (`spec.replicas`) that another manager may take over: `apply` sets them only while nobody else owns them. A
   * path that leads through a list throws `CONTROLLER_INVALID`.
   */
  readonly yields?: readonly string[];
  /**
   * What to do if the object exists and somebody else created it. `refuse` (the default) throws `CHILD_NOT_OWNED`;
   * `adopt` takes it over, unless it has another controller.
   */
  readonly existing?: "refuse" | "adopt";
}

/** The type of an index look-up on a kind without indexes. Its field explains the compiler error. */
export type KindHasNoIndex = {
  readonly "this kind has no index: declare it with scoped(Kind, { indexes })"?: never;
};

/** The name of one index and the value to look up. */
export type IndexLookup<Index extends string> = [Index] extends [never]
  ? KindHasNoIndex
  : { readonly [Name in Index]?: string };

/** A child as a reconciler states it: only what it wants to own, including everything that the kind requires. */
export type Desired<T extends KubeObject> = Stated<Omit<WrittenAs<T>, keyof KubeObject | "status" | typeof writtenAs>> &
  ChildIdentity<T>;

/** An object nested in another (the claims of a StatefulSet) is stated like any object, without what servers fill in. */
type Stated<T> = T extends KubeObject
  ? Stated<Omit<T, keyof KubeObject>> &
      Partial<Pick<T, "apiVersion" | "kind">> & { readonly metadata?: Partial<ObjectMeta> }
  : T extends readonly (infer Item)[]
    ? readonly Stated<Item>[]
    : T extends object
      ? { [Field in keyof T]: Stated<T[Field]> }
      : T;

/** Some fields of an object that somebody else has created: for `existing: "adopt"`. */
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

/** The type of a kind that no declaration names. Its field explains the compiler error. */
export interface KindIsNotDeclared {
  readonly "this kind is not declared: add it to uses, or to owns": never;
}

/** The type of a kind that is not owned. Its field explains the compiler error. */
export interface KindIsNotOwned {
  readonly "only kinds that are owned are applied and pruned: add this one to owns": never;
}

/** A kind, if it is one of the `Known`. */
type Declared<K extends Kind, Known extends Kind> = Kind extends Known ? K : K extends Known ? K : KindIsNotDeclared;
/** A kind, if it is one of the `Owned`. */
type OwnedKind<K extends Kind, Owned extends Kind> = Kind extends Owned ? K : K extends Owned ? K : KindIsNotOwned;

/**
 * Reads and writes of declared kinds. Reads come from the cache, and are at least as new as the last write of this
 * process. They are tracked: when an object that was read changes, or one that was missing appears, the controller
 * reconciles again.
 */
export interface ObjectAccess<
  Known extends Kind,
  Owned extends Kind,
  Uses extends readonly KindUse[] = readonly KindUse[],
> {
  /**
   * Throws `DEPENDENCY_ABSENT` if the object does not exist. If the reconciler does not catch it, the run waits for the
   * object.
   */
  get<K extends Kind>(kind: Declared<K, Known>, name: string, options?: ReadOptions): Promise<ObjectOf<K>>;
  find<K extends Kind>(kind: Declared<K, Known>, name: string, options?: ReadOptions): Promise<ObjectOf<K> | undefined>;
  /** In order of their keys. */
  list<K extends Kind>(kind: Declared<K, Known>, options?: ListReadOptions): Promise<readonly ObjectOf<K>[]>;
  /** The objects for which a declared index returned a value, in order of their keys: `byIndex(Pod, { node: "node-1" })`. */
  byIndex<K extends Kind>(
    kind: Declared<K, Known>,
    index: IndexLookup<IndexesOf<Uses, K>>,
    options?: Pick<ReadOptions, "tracked">,
  ): Promise<readonly ObjectOf<K>[]>;

  /**
   * Server-side apply with this controller's field manager; the reconciled object becomes the owner. Sends no request
   * if the child is as desired. Corrects drift, and removes fields that are no longer stated. Returns the resulting
   * child. The object must state everything that its kind requires, unless it adopts an object of somebody else
   * (`existing: "adopt"`). Throws `KIND_NOT_DECLARED` for a kind that is not owned.
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
  /** Creates an object once. If its kind is owned, the object has an owner like an applied one, but is never pruned. */
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
  /** Deletes an object. Does nothing if it does not exist. */
  delete<K extends Kind>(
    kind: Declared<K, Known>,
    name: string,
    options?: Pick<DeleteOptions, "namespace" | "preconditions" | "propagation" | "gracePeriodSeconds">,
  ): Promise<void>;
  /**
   * Deletes the owned objects that this controller has applied before and that this run has neither applied nor
   * created. Leaves objects that others or `create` made for the same owner. Returns the deleted keys.
   */
  prune(...kinds: readonly Owned[]): Promise<readonly string[]>;
}

export type StatusOf<T extends KubeObject> = T extends { readonly status?: infer Status } ? NonNullable<Status> : never;

/** The type of a condition on a kind without conditions. Its field explains the compiler error. */
export interface StatusHasNoConditions {
  readonly "the status of this kind has no conditions: add them to its schema": never;
}

/** A condition that a reconciler sets, if the status of the kind has conditions. */
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
 * The context of a reconciler in one run. Its methods throw `RUN_OVER` once the run has ended. You may destructure it
 * (`const { apply } = ctx`), but a copy (`{ ...ctx }`) lacks `signal` and `log`, which are created on first use.
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
  /** The fields of the object that changed since the last run, as far as known. */
  changedPaths(): readonly string[];
  /**
   * Ends the run as a wait if an object that the controller's `refs` name is missing, or its last run failed. The
   * controller reconciles again after that object has run.
   */
  requireRefs(): void;
  /**
   * Kept in memory between runs until one is done: for work that a retry should not repeat. Starts with the result of
   * the controller's `state`.
   */
  readonly state: State;

  /**
   * Merges into the status (null removes a field). The controller writes the status once at the end of the run, however
   * it ends.
   */
  status(
    status: DeepPartial<StatusOf<T>> | { readonly [Field in keyof StatusOf<T>]?: StatusOf<T>[Field] | null },
  ): void;
  /**
   * Sets a condition with the current generation; its transition time changes only with its status. Throws
   * `CONDITIONS_MISSING` if the schema of the kind has no conditions.
   */
  condition(condition: ConditionOn<T>): void;
  event(type: "Normal" | "Warning", reason: string, message: string): void;
  readonly metrics: Metrics;
  /** The same reads and writes on another cluster that the manager knows. */
  in(cluster: string): ObjectAccess<Known, Owned, Uses>;
}

/** The context of `gone`. */
export interface GoneContext {
  /** Aborted on timeout and shutdown, and when the lease is lost. */
  readonly signal: AbortSignal;
  readonly log: Logger;
  /** 0 for the first attempt; counts up while it throws. */
  readonly attempt: number;
  /** To remove the series that the object's runs have written. */
  readonly metrics: Metrics;
}
