/**
 * How Go encodes a struct: its fields in struct order, which is also their JSON order. The protobuf decoder uses it,
 * and so does code that needs to know which fields Go always writes.
 */
export interface Message {
  /** The component name in the published schemas: `io.k8s.api.core.v1.PodSpec`. */
  readonly name: string;
  readonly fields: readonly MessageField[];
  /** By protobuf field number. */
  readonly byNumber: ReadonlyMap<number, MessageField>;
}

export interface MessageField {
  /** Position among the fields of its message. */
  readonly index: number;
  readonly number: number;
  /** The name of the Go field, as decoding errors show it. */
  readonly goName: string;
  /** The JSON name; empty for an inlined struct. */
  readonly json: string;
  readonly type: FieldType;
  /** `empty`: Go omits an empty string, list or map, zero, false and nil. `zero`: Go also omits a zero struct. */
  readonly omit: "never" | "empty" | "zero";
}

export type FieldType =
  | { readonly kind: "scalar"; readonly scalar: Scalar }
  /** A struct without its own marshaller. */
  | { readonly kind: "message"; readonly message: Message }
  /** A struct with its own marshaller. `schema` is the message of the schemas in the `Schema…` types. */
  | { readonly kind: "special"; readonly special: Special; readonly schema?: Message }
  /** A pointer, which distinguishes absent from zero. */
  | { readonly kind: "pointer"; readonly to: FieldType }
  | { readonly kind: "list"; readonly of: FieldType }
  /** A list that is a separate message on the wire, with its items in field 1. */
  | { readonly kind: "wrapped-list"; readonly of: FieldType }
  | { readonly kind: "map"; readonly of: FieldType };

export type Scalar = "string" | "bool" | "int32" | "int64" | "float64" | "bytes";

export type Special =
  | "Time"
  | "MicroTime"
  | "Duration"
  | "FieldsV1"
  | "Quantity"
  | "IntOrString"
  | "RawExtension"
  | "JSON"
  | "SchemaOrBool"
  | "SchemaOrArray"
  | "SchemaOrStrings";

type FieldRow = readonly [number: number, json: string, type: string, omit: 0 | 1 | 2, goName?: string];
/** A message as `tools/harvest` writes it. */
export type MessageRow = readonly [name: string, fields: readonly FieldRow[]];

const OMISSIONS = ["never", "empty", "zero"] as const;

/** The message table. A message is expanded at first use. */
export function messageTable(kinds: Readonly<Record<string, number>>, rows: () => readonly MessageRow[]) {
  const messages: (Message | undefined)[] = [];
  const options = new Map(
    Object.entries(kinds).flatMap(([id, at]) => (id.startsWith("meta.k8s.io/v1/") ? [[id.slice(15), at]] : [])),
  );
  let names: Map<string, number> | undefined;

  function messageAt(at: number): Message {
    const known = messages[at];
    if (known) return known;
    const [name, fieldRows] = rows()[at]!;
    const fields: MessageField[] = [];
    const byNumber = new Map<number, MessageField>();
    const message: Message = { name, fields, byNumber };
    messages[at] = message;
    for (const [number, json, type, omit, goName = json.slice(0, 1).toUpperCase() + json.slice(1)] of fieldRows) {
      const field: MessageField = {
        index: fields.length,
        number,
        goName,
        json,
        type: typeOf(type),
        omit: OMISSIONS[omit],
      };
      fields.push(field);
      byNumber.set(number, field);
    }
    return message;
  }

  function messageNamed(name: string): Message | undefined {
    names ??= new Map(rows().map(([rowName], at) => [rowName, at]));
    const at = names.get(name);
    return at === undefined ? undefined : messageAt(at);
  }

  function typeOf(text: string): FieldType {
    if (text.startsWith("*")) return { kind: "pointer", to: typeOf(text.slice(1)) };
    if (text.startsWith("[]")) return { kind: "list", of: typeOf(text.slice(2)) };
    if (text.startsWith("()")) return { kind: "wrapped-list", of: typeOf(text.slice(2)) };
    if (text.startsWith("{}")) return { kind: "map", of: typeOf(text.slice(2)) };
    if (text.startsWith("@Schema")) {
      const schema = messageNamed("io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps");
      return { kind: "special", special: text.slice(1) as Special, ...(schema ? { schema } : {}) };
    }
    if (text.startsWith("@")) return { kind: "special", special: text.slice(1) as Special };
    if (text.startsWith("#")) return { kind: "message", message: messageAt(Number(text.slice(1))) };
    return { kind: "scalar", scalar: text as Scalar };
  }

  return {
    messageOf(apiVersion: string, kind: string): Message | undefined {
      const at = kinds[`${apiVersion}/${kind}`] ?? options.get(kind);
      return at === undefined ? undefined : messageAt(at);
    },
    messageNamed,
  };
}
