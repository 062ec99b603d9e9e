import { DYN, isSameType, type Type } from "./type.js";

/** Kinds that accept null. */
const NULLABLE: ReadonlySet<Type["kind"]> = new Set(["opaque", "struct", "duration", "timestamp"]);

/** Bindings of type parameters, found by matching types. A match that fails leaves the bindings unchanged. */
export class Substitution {
  #bound = new Map<string, Type>();

  /** Whether a value of one type is accepted where the other is expected. */
  matches(actual: Type, wanted: Type): boolean {
    return this.matchesAll([actual], [wanted]);
  }

  matchesAll(actual: readonly Type[], wanted: readonly Type[]): boolean {
    const before = new Map(this.#bound);
    if (this.#allFit(actual, wanted)) return true;
    this.#bound = before;
    return false;
  }

  /** Replaces every bound parameter. Unbound ones stay, or become `dyn`. */
  apply(type: Type, unknownIsDyn = false): Type {
    if (type.kind === "parameter") {
      const bound = this.#bound.get(type.name);
      if (bound !== undefined) return this.apply(bound, unknownIsDyn);
      return unknownIsDyn ? DYN : type;
    }
    if (type.parameters.length === 0) return type;
    return { ...type, parameters: type.parameters.map((part) => this.apply(part, unknownIsDyn)) };
  }

  #allFit(actual: readonly Type[], wanted: readonly Type[]): boolean {
    return actual.length === wanted.length && actual.every((type, index) => this.#fits(type, wanted[index]!));
  }

  #fits(actual: Type, wanted: Type): boolean {
    if (wanted.kind === "parameter") {
      const { isValid, isBound } = this.#bind(actual, wanted);
      if (isValid) return true;
      if (isBound) return false;
    }
    if (actual.kind === "parameter") return this.#bind(wanted, actual).isValid;
    if (isOpen(actual) || isOpen(wanted)) return true;
    if (actual.kind === "null") return wanted.kind === "null" || NULLABLE.has(wanted.kind);
    if (wanted.kind === "null") return NULLABLE.has(actual.kind);
    if (actual.kind !== wanted.kind) return false;
    if (actual.kind === "type") return true;
    return actual.name === wanted.name && this.#allFit(actual.parameters, wanted.parameters);
  }

  /** Binds a parameter to a type, or to the more general of that type and its current binding. */
  #bind(type: Type, parameter: Type): { readonly isValid: boolean; readonly isBound: boolean } {
    if (isSameType(type, parameter)) return { isValid: true, isBound: true };
    const bound = this.#bound.get(parameter.name);
    if (bound !== undefined) {
      if (isSameType(type, bound)) return { isValid: true, isBound: true };
      if (!this.#fits(type, bound)) return { isValid: false, isBound: true };
      const general = moreGeneral(type, bound);
      if (!this.#contains(general, parameter)) this.#bound.set(parameter.name, general);
      return { isValid: true, isBound: true };
    }
    if (this.#contains(type, parameter)) return { isValid: false, isBound: false };
    this.#bound.set(parameter.name, type);
    return { isValid: true, isBound: false };
  }

  #contains(type: Type, parameter: Type): boolean {
    if (isSameType(type, parameter)) return true;
    if (type.kind === "parameter") {
      const bound = this.#bound.get(type.name);
      return bound !== undefined && this.#contains(bound, parameter);
    }
    return type.parameters.some((part) => this.#contains(part, parameter));
  }
}

/** The more general of two matching types. */
export function moreGeneral(a: Type, b: Type): Type {
  return isLessSpecific(a, b) ? a : b;
}

function isLessSpecific(a: Type, b: Type): boolean {
  if (a.kind === "dyn" || a.kind === "parameter") return true;
  if (b.kind === "dyn" || b.kind === "parameter") return false;
  if (a.kind !== b.kind) return false;
  if (a.kind === "type") return true;
  return (
    a.name === b.name &&
    a.parameters.length === b.parameters.length &&
    a.parameters.every((part, index) => isLessSpecific(part, b.parameters[index]!))
  );
}

/** Types that match any type in both directions. */
function isOpen({ kind }: Type): boolean {
  return kind === "dyn" || kind === "error";
}
