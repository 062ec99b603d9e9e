import type { LabelRequirement } from "./label-requirement.js";

export const INTEGER = /^[+-]?\d+$/;

/** All that a selector says of one label. Its checks cost the same however many terms it has. */
export class LabelRule {
  /** Whether the label must be there. */
  isRequired = false;
  #isForbidden = false;
  #allowed: Set<string> | undefined;
  #refused: Set<string> | undefined;
  #above: bigint | undefined;
  #below: bigint | undefined;

  constructor(requirement: LabelRequirement) {
    this.add(requirement);
  }

  add({ operator, values }: LabelRequirement): void {
    if (operator !== "DoesNotExist" && operator !== "NotIn") this.isRequired = true;
    switch (operator) {
      case "In": {
        const before = this.#allowed;
        this.#allowed = new Set(before === undefined ? values : values.filter((value) => before.has(value)));
        break;
      }
      case "NotIn":
        this.#refused ??= new Set();
        for (const value of values) this.#refused.add(value);
        break;
      case "DoesNotExist":
        this.#isForbidden = true;
        break;
      case "Gt":
        if (this.#above === undefined || BigInt(values[0]!) > this.#above) this.#above = BigInt(values[0]!);
        break;
      case "Lt":
        if (this.#below === undefined || BigInt(values[0]!) < this.#below) this.#below = BigInt(values[0]!);
        break;
    }
  }

  /** Whether it holds for the value of its label, undefined where that is absent. */
  holds(value: string | undefined): boolean {
    if (value === undefined) return !this.isRequired;
    if (this.#isForbidden || this.#refused?.has(value) || this.#allowed?.has(value) === false) return false;
    if (this.#above === undefined && this.#below === undefined) return true;
    if (!INTEGER.test(value)) return false;
    const number = BigInt(value);
    return (this.#above === undefined || number > this.#above) && (this.#below === undefined || number < this.#below);
  }
}
