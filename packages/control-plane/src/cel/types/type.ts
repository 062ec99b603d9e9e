export type TypeKind =
  | "bool"
  | "bytes"
  | "double"
  | "duration"
  | "dyn"
  | "error"
  | "int"
  | "list"
  | "map"
  | "null"
  | "opaque"
  | "parameter"
  | "string"
  | "struct"
  | "timestamp"
  | "type"
  | "uint";

/** A CEL type. Types are equal if kind, name and parameters are; a struct's fields follow from its name. */
export interface Type {
  readonly kind: TypeKind;
  readonly name: string;
  readonly parameters: readonly Type[];
  /** The type of a struct's field; undefined if there is no such field. */
  readonly field?: (name: string) => Type | undefined;
}

function simple(kind: TypeKind, name: string): Type {
  return { kind, name, parameters: [] };
}

export const BOOL = simple("bool", "bool");
export const BYTES = simple("bytes", "bytes");
export const DOUBLE = simple("double", "double");
export const DURATION = simple("duration", "google.protobuf.Duration");
export const DYN = simple("dyn", "dyn");
export const ERROR = simple("error", "error");
export const INT = simple("int", "int");
export const NULL = simple("null", "null_type");
export const STRING = simple("string", "string");
export const TIMESTAMP = simple("timestamp", "google.protobuf.Timestamp");
export const UINT = simple("uint", "uint");

export function listOf(item: Type): Type {
  return { kind: "list", name: "list", parameters: [item] };
}

export function mapOf(key: Type, value: Type): Type {
  return { kind: "map", name: "map", parameters: [key, value] };
}

export function optionalOf(value: Type): Type {
  return opaque("optional_type", value);
}

export function typeOf(type: Type): Type {
  return { kind: "type", name: "type", parameters: [type] };
}

export function opaque(name: string, ...parameters: Type[]): Type {
  return { kind: "opaque", name, parameters };
}

export function struct(name: string, field: NonNullable<Type["field"]> = () => undefined): Type {
  return { kind: "struct", name, parameters: [], field };
}

/** A type parameter: any type, but the same throughout a signature. */
export function parameter(name: string): Type {
  return simple("parameter", name);
}

export function isSameType(a: Type, b: Type): boolean {
  return (
    a === b ||
    (a.kind === b.kind &&
      a.name === b.name &&
      a.parameters.length === b.parameters.length &&
      a.parameters.every((part, index) => isSameType(part, b.parameters[index]!)))
  );
}

/** The content type of an optional; undefined for other types. */
export function optionalContent(type: Type): Type | undefined {
  return type.kind === "opaque" && type.name === "optional_type" ? type.parameters[0] : undefined;
}

const SHORT_NAMES: Partial<Record<TypeKind, string>> = {
  duration: "duration",
  error: "!error!",
  null: "null",
  timestamp: "timestamp",
};

/** A type as kube-apiserver's messages name it. */
export function formatType(type: Type): string {
  const short = SHORT_NAMES[type.kind];
  if (short !== undefined) return short;
  return type.parameters.length === 0 ? type.name : `${type.name}(${type.parameters.map(formatType).join(", ")})`;
}

/** The argument types of a call: `string.(int, int)` for a method of a string. */
export function formatSignature(args: readonly Type[], isMethod: boolean): string {
  const shown = args.map(formatType);
  return isMethod ? `${shown[0]}.(${shown.slice(1).join(", ")})` : `(${shown.join(", ")})`;
}
