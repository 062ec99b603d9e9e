import type { Facts } from "../facts/facts.js";
import type { ObjectShape } from "../kinds/resource-definition.js";
import type { Strategy } from "../kinds/strategy.js";
import { builtInShape } from "./built-in-shape.js";
import { builtInStrategy, type StrategyExtras } from "./built-in-strategies.js";
import { BuiltInDefaults } from "./defaults/built-in-defaults.js";

/** What writing built-in kinds needs besides facts: decoding, defaulting, preparation and validation. */
export class BuiltInWriting {
  readonly #facts: Facts;
  readonly #defaults: BuiltInDefaults;
  readonly #strategies: StrategyExtras;
  readonly #overrides: StrategyExtras;

  /** `strategies` come from other layers; `overrides` replace parts of the resulting strategy. */
  constructor(facts: Facts, strategies: StrategyExtras, overrides: StrategyExtras) {
    this.#facts = facts;
    this.#defaults = new BuiltInDefaults(facts.components);
    this.#strategies = strategies;
    this.#overrides = overrides;
  }

  shapeOf(group: string, version: string, kind: string): ObjectShape {
    return builtInShape(this.#facts, this.#defaults, group, version, kind);
  }

  strategyOf(group: string, version: string, plural: string): Strategy {
    const known = this.#facts.strategy(group, version, plural) ?? {};
    const id = `${group}/${plural}`;
    return { ...builtInStrategy(group, plural, known, this.#strategies[id]), ...this.#overrides[id] };
  }
}
