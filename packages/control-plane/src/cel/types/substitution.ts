import { DYN, isSameType, type Type } from "./type.js";

/** Kinds that null may stand for. */
const NULLABLE: ReadonlySet<Type["kind"]> = new Set(["opaque", "struct", "duration", "timestamp"]);

/**
 * What type parameters stand for, found by matching types with each other. Matching either succeeds and adds what it
 * found, or fails and leaves everything as it was.
 */
export class Substitution {
  #bound = new Map<string, Type>();

  /** Whether a value of one type may stand where the other is expected. */
  matches(actual: Type, wanted: Type): boolean {
    return this.matchesAll([actual], [wanted]);
  }

  matchesAll(actual: readonly Type[], wanted: readonly Type[]): boolean {
    const before = new Map(this.#bound);
    if (this.#allFit(actual, wanted)) return true;
    this.#bound = before;
    return false;
  }

  /** With every known parameter replaced; unknown ones stay, or become `dyn`. */
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

  /** Lets a parameter stand for a type, or for the more general of that and what it stands for already. */
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

/** Of two types that match each other, the one that allows more. */
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

/** Anything may stand for these, and they for anything. */
function isOpen({ kind }: Type): boolean {
  return kind === "dyn" || kind === "error";
}
