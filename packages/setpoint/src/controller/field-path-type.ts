import type { KubeObject } from "../kinds/object.js";

/**
 * The path of a field of an object in predicates: `spec.size`, `metadata.labels[example.com/team]`. The type checks
 * four levels; deeper levels, lists and maps may be anything. For kinds without typed fields, any string.
 */
export type FieldPath<T> = [Exclude<keyof T & string, keyof KubeObject>] extends [never]
  ? string
  : string extends keyof T
    ? string
    : NamesOf<T, [0, 0, 0]>;

/** `Left` has one item for each level that may follow. */
type NamesOf<T, Left extends readonly unknown[]> = {
  [Name in keyof T & string]: Name | `${Name}${Below<NonNullable<T[Name]>, Left>}`;
}[keyof T & string];

type Below<T, Left extends readonly unknown[]> = unknown extends T
  ? Anything
  : T extends string | number | boolean
    ? never
    : T extends readonly unknown[]
      ? Anything
      : string extends keyof T
        ? Anything
        : Left extends readonly [unknown, ...infer Less]
          ? `.${NamesOf<T, Less>}`
          : Anything;

type Anything = `.${string}` | `[${string}`;
