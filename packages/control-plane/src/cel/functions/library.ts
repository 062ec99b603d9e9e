import type { Environment } from "../checking/environment.js";
import {
  BOOL,
  BYTES,
  DOUBLE,
  DURATION,
  DYN,
  INT,
  listOf,
  mapOf,
  NULL,
  opaque,
  STRING,
  TIMESTAMP,
  type Type,
  typeOf,
  UINT,
} from "../types/type.js";
import { conversions } from "./conversions.js";
import type { FunctionDeclaration } from "./declaration.js";
import { formats } from "./formats.js";
import { lists } from "./lists.js";
import { networks, networkTypes } from "./networks.js";
import { operators } from "./operators.js";
import { optionals } from "./optionals.js";
import { quantities } from "./quantities.js";
import { sizes } from "./sizes.js";
import { strings } from "./strings.js";
import { times } from "./times.js";
import { urls } from "./urls.js";
import { versions } from "./versions.js";

/** The functions and types that expressions may use. */
export class Library {
  readonly #functions: ReadonlyMap<string, FunctionDeclaration>;
  readonly #typeNamed: (name: string) => Type | undefined;

  constructor(functions: Iterable<FunctionDeclaration>, typeNamed: (name: string) => Type | undefined) {
    this.#functions = gathered(functions);
    this.#typeNamed = typeNamed;
  }

  /** Adds functions and types. */
  with(functions: readonly FunctionDeclaration[], typeNamed: (name: string) => Type | undefined): Library {
    return new Library([...this.#functions.values(), ...functions], (name) => this.#typeNamed(name) ?? typeNamed(name));
  }

  /** The names that an expression may use: this library and these variables. */
  environment(variables: ReadonlyMap<string, Type>): Environment {
    return {
      variable: (name) => variables.get(name),
      function: (name) => this.#functions.get(name),
      type: this.#typeNamed,
    };
  }
}

/** Merges declarations of one name from several libraries into one function. */
function gathered(declarations: Iterable<FunctionDeclaration>): Map<string, FunctionDeclaration> {
  const result = new Map<string, FunctionDeclaration>();
  for (const declaration of declarations) {
    const known = result.get(declaration.name);
    const overloads = [...(known?.overloads ?? []), ...declaration.overloads];
    result.set(declaration.name, { ...known, ...declaration, overloads });
  }
  return result;
}

const TYPES: ReadonlyMap<string, Type> = new Map<string, Type>([
  ...[BOOL, BYTES, DOUBLE, DURATION, INT, STRING, TIMESTAMP, UINT, NULL].map((type) => [type.name, type] as const),
  ["dyn", DYN],
  ["list", listOf(DYN)],
  ["map", mapOf(DYN, DYN)],
  ["type", typeOf(DYN)],
  ["optional_type", opaque("optional_type", DYN)],
  ...networkTypes.map((type) => [type.name, type] as const),
]);

/** The library of every expression in Kubernetes 1.36. */
export const kubernetesLibrary = new Library(
  [
    ...operators,
    ...conversions,
    ...sizes,
    ...strings,
    ...lists,
    ...times,
    ...optionals,
    ...urls,
    ...quantities,
    ...versions,
    ...networks,
    ...formats,
  ],
  (name) => TYPES.get(name),
);
