import type { MatchCondition } from "../kinds/builtin/admissionregistration.k8s.io/v1.js";
import type { Kind } from "../kinds/kind.js";
import type { KubeObject, NewObject } from "../kinds/object.js";
import type { LabelSelector } from "../kinds/selector/label-selector.js";
import { unknownOptions } from "../kinds/unknown-options.js";
import { shown } from "../loop/outcome.js";

export type AdmissionOperation = "CREATE" | "UPDATE" | "DELETE";

/** The user of the request. */
export interface AdmissionUser {
  readonly username: string;
  readonly uid: string;
  readonly groups: readonly string[];
  readonly extra: Readonly<Record<string, readonly string[]>>;
}

/** What a handler knows about the request besides its objects. */
export interface AdmissionRequest {
  readonly uid: string;
  readonly operation: AdmissionOperation;
  /** The kind of the objects as the handler gets them; the client may have used another version. */
  readonly kind: { readonly group: string; readonly version: string; readonly kind: string };
  /** Empty where the server has not generated the name yet. */
  readonly name: string;
  /** Empty for a cluster-scoped kind. */
  readonly namespace: string;
  /** `status`, `scale`; empty for the object itself. */
  readonly subresource: string;
  /** True for a dry run: a handler must change nothing outside. */
  readonly dryRun: boolean;
  readonly user: AdmissionUser;
  /** Aborted when the caller disconnects. */
  readonly signal: AbortSignal;
  /** Adds a warning to the response, whether it allows or denies the request. */
  warn(message: string): void;
}

export interface AdmissionOptions {
  /**
   * Handles these subresources too, such as `status`. A handler always handles the object itself. Some subresources
   * have objects of another kind, whatever the handler's types say: that of `scale` is a Scale.
   */
  readonly subresources?: readonly string[];
  /** What the server does when it cannot reach the handler. Defaults to `Fail`. */
  readonly failurePolicy?: "Fail" | "Ignore";
  /** Defaults to `None`. A handler that changes something outside sets `NoneOnDryRun`, and checks `dryRun`. */
  readonly sideEffects?: "None" | "NoneOnDryRun";
  /** 1 to 30. Defaults to 10. */
  readonly timeoutSeconds?: number;
  /** Handles only objects in namespaces with these labels. For a Namespace, its own labels count. */
  readonly namespaceSelector?: LabelSelector;
  /** Handles only objects with these labels, before or after the change. */
  readonly objectSelector?: LabelSelector;
  /** Handles only requests for which all of these CEL expressions are true: `{ name: "no-leases", expression: "…" }`. */
  readonly matchConditions?: readonly MatchCondition[];
}

type Verdict = Promise<void> | void;

/** Called before an object is stored. A handler that throws refuses it; see `RefusedError` for status and reason. */
export interface ValidateOptions<T extends KubeObject> extends AdmissionOptions {
  create?(object: T, request: AdmissionRequest): Verdict;
  update?(object: T, old: T, request: AdmissionRequest): Verdict;
  delete?(old: T, request: AdmissionRequest): Verdict;
}

/** Returns the changed object, or nothing to leave it unchanged. Must be idempotent. */
type Mutated<T extends KubeObject> = Promise<NewObject<T> | undefined> | NewObject<T> | undefined;

export interface MutateOptions<T extends KubeObject> extends AdmissionOptions {
  create?(object: T, request: AdmissionRequest): Mutated<T>;
  update?(object: T, old: T, request: AdmissionRequest): Mutated<T>;
}

export interface Validator {
  readonly type: "validator";
  readonly kind: Kind;
  readonly options: ValidateOptions<KubeObject>;
}

export interface Mutator {
  readonly type: "mutator";
  readonly kind: Kind;
  readonly options: MutateOptions<KubeObject>;
}

/**
 * A validating webhook of one kind; its operations are those that it has a function for. In an app with admission, what the
 * kind's schema refines (`refine` of zod) is checked beside it; `validating(Website)` checks that alone.
 *
 * ```ts
 * validating(Website, {
 *   update(site, old) {
 *     if (site.spec.region !== old.spec.region) throw new RefusedError(422, "Invalid", "spec.region cannot change");
 *   },
 * });
 * ```
 */
export function validating<T extends KubeObject>(kind: Kind<T>, options: ValidateOptions<T> = {}): Validator {
  return { type: "validator", kind, options: options as unknown as ValidateOptions<KubeObject> };
}

/** A mutating webhook of one kind. The server gets the changes as a JSON patch. */
export function mutating<T extends KubeObject>(kind: Kind<T>, options: MutateOptions<T>): Mutator {
  return { type: "mutator", kind, options: options as unknown as MutateOptions<KubeObject> };
}

const HANDLERS = {
  validator: ["create", "update", "delete"],
  mutator: ["create", "update"],
} as const;
const SETTINGS: readonly string[] = [
  ...["subresources", "failurePolicy", "sideEffects", "timeoutSeconds"],
  ...["namespaceSelector", "objectSelector", "matchConditions"],
];

/** Finds misspelt operations and options: with a misspelt operation, objects would pass unchecked. */
export function handlerProblems({ type, options }: Validator | Mutator): readonly string[] {
  const given = options as Readonly<Record<string, unknown>>;
  const unless = (name: string, isRight: (value: unknown) => boolean, wanted: string): readonly string[] =>
    given[name] === undefined || isRight(given[name])
      ? []
      : [`${name} is ${JSON.stringify(given[name]) ?? shown(given[name])}, not ${wanted}`];
  const choice = (name: string, ...choices: readonly unknown[]): readonly string[] =>
    unless(name, (value) => choices.includes(value), choices.join(" or "));
  const isObject = (value: unknown): boolean => typeof value === "object" && value !== null && !Array.isArray(value);
  const isSeconds = (value: unknown): boolean => Number.isInteger(value) && Number(value) >= 1 && Number(value) <= 30;
  const isNames = (value: unknown): boolean => Array.isArray(value) && value.every((each) => typeof each === "string");
  const isConditions = (value: unknown): boolean => Array.isArray(value) && value.every(isObject);
  return [
    ...unknownOptions(given, [...HANDLERS[type], ...SETTINGS]),
    ...HANDLERS[type].flatMap((name) => unless(name, (value) => typeof value === "function", "a function")),
    ...choice("failurePolicy", "Fail", "Ignore"),
    ...choice("sideEffects", "None", "NoneOnDryRun"),
    ...unless("timeoutSeconds", isSeconds, "1 to 30"),
    ...unless("subresources", isNames, "a list of names"),
    ...unless("namespaceSelector", isObject, "a label selector"),
    ...unless("objectSelector", isObject, "a label selector"),
    ...unless("matchConditions", isConditions, "a list of conditions"),
  ];
}

/** The operations that a handler has a function for. */
export function operationsOf(handler: Validator | Mutator): readonly AdmissionOperation[] {
  const { options } = handler;
  return [
    ...(options.create ? (["CREATE"] as const) : []),
    ...(options.update ? (["UPDATE"] as const) : []),
    ...("delete" in options && options.delete ? (["DELETE"] as const) : []),
  ];
}
