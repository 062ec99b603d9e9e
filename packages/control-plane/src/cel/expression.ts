import type { CelValue } from "./value.js";

/** A parsed CEL expression. `at` is where it begins in the text. */
export type Expression =
  | { readonly kind: "literal"; readonly value: CelValue; readonly at: number }
  | { readonly kind: "identifier"; readonly name: string; readonly at: number }
  /** `operand.field`; as a test, `has(operand.field)`. */
  | {
      readonly kind: "select";
      readonly operand: Expression;
      readonly field: string;
      readonly isTest: boolean;
      readonly isOptional: boolean;
      readonly at: number;
    }
  | {
      readonly kind: "index";
      readonly operand: Expression;
      readonly index: Expression;
      readonly isOptional: boolean;
      readonly at: number;
    }
  /** A function, a method of `target`, or an operator by its sign. */
  | {
      readonly kind: "call";
      readonly name: string;
      readonly target: Expression | undefined;
      readonly args: readonly Expression[];
      readonly at: number;
    }
  | { readonly kind: "list"; readonly items: readonly Entry<Expression>[]; readonly at: number }
  | {
      readonly kind: "map";
      readonly entries: readonly Entry<readonly [key: Expression, value: Expression]>[];
      readonly at: number;
    }
  | Comprehension;

/** An item that, where it is optional and absent, is left out. */
export interface Entry<Item> {
  readonly item: Item;
  readonly isOptional: boolean;
}

/** A macro over a list or the keys of a map. */
export interface Comprehension {
  readonly kind: "comprehension";
  readonly macro: "all" | "exists" | "exists_one" | "map" | "filter";
  readonly range: Expression;
  readonly variable: string;
  /** The condition; of `map` with three arguments, which items are taken. */
  readonly condition: Expression | undefined;
  /** What `map` makes of an item. */
  readonly transform: Expression | undefined;
  readonly at: number;
}
