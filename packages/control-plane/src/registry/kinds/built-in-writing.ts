import type { Facts } from "../../facts/facts.js";
import type { ObjectShape } from "../resource-definition.js";
import type { Strategy } from "../strategy.js";
import { builtInShape } from "./built-in-shape.js";
import { builtInStrategy } from "./built-in-strategies.js";
import { BuiltInDefaults } from "./defaults/built-in-defaults.js";

/** What writing built-in kinds takes beyond facts: how they are decoded and filled in, prepared and judged. */
export class BuiltInWriting {
  readonly #facts: Facts;
  readonly #defaults: BuiltInDefaults;
  readonly #extras: Readonly<Record<string, Partial<Strategy>>>;

  /** `extras` adds to the strategies what needs more than data, by `group/plural`. */
  constructor(facts: Facts, extras: Readonly<Record<string, Partial<Strategy>>>) {
    this.#facts = facts;
    this.#defaults = new BuiltInDefaults(facts.components);
    this.#extras = extras;
  }

  shapeOf(group: string, version: string, kind: string): ObjectShape {
    return builtInShape(this.#facts, this.#defaults, group, version, kind);
  }

  strategyOf(group: string, version: string, plural: string): Strategy {
    const known = this.#facts.strategy(group, version, plural) ?? {};
    return { ...builtInStrategy(group, plural, known), ...this.#extras[`${group}/${plural}`] };
  }
}
