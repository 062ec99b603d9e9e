import { createHash } from "node:crypto";
import type { JsonObject } from "setpoint";
import { formatQuantity, parseQuantity } from "setpoint/quantity";
import { GO_FIELDS } from "./go-fields.js";

interface Problem {
  readonly path: string;
  readonly message: string;
}

interface GoField {
  readonly name: string;
  readonly omitsEmpty: boolean;
  readonly type: string;
}

/** The struct types of {@link GO_FIELDS} by name. */
function structs(): ReadonlyMap<string, readonly GoField[]> {
  const rows = GO_FIELDS.trim().split("\n");
  return new Map(
    rows.map((row) => {
      const [name, ...fields] = row.split(" ");
      const parsed = fields.filter(Boolean).map((field) => {
        const [key, type] = field.split(":") as [string, string];
        return { name: key.replace("?", ""), omitsEmpty: key.endsWith("?"), type };
      });
      return [name!, parsed];
    }),
  );
}

/** Writes Kubernetes objects byte for byte as Go's json.Marshal does with the types of druid-operator. */
export class GoJson {
  readonly #structs = structs();

  /** Base64 of the SHA-1. druid-operator stores it in the annotation `druidOpResourceHash`. */
  hash(object: object & { readonly kind?: string }): string {
    return createHash("sha1").update(this.marshal(object)).digest("base64");
  }

  marshal(object: object & { readonly kind?: string }): string {
    return this.#value(object, typeOf(object));
  }

  /** The object as Go would write it: canonical quantities, and no fields that `omitempty` drops. */
  normal<T extends object & { readonly kind?: string }>(object: T): T {
    return this.#normal(object, typeOf(object)) as T;
  }

  /** The paths at which Go could not decode the value as the type. */
  problems(value: unknown, type: string, path: string): readonly Problem[] {
    const all = (values: object, inner: (key: string) => string | undefined, at: (key: string) => string) =>
      Object.entries(values).flatMap(([key, each]) => {
        const its = inner(key);
        return its ? this.problems(each, its, `${path}${at(key)}`) : [];
      });
    const wrong = (what: string) => [{ path, message: `must be ${what}, not ${JSON.stringify(value)}` }];
    const inner = type.slice(1);
    if (value === undefined || value === null) return [];
    if (type[0] === "*") return this.problems(value, inner, path);
    if (type[0] === "[") {
      return Array.isArray(value)
        ? all(
            value,
            () => inner,
            (index) => `[${index}]`,
          )
        : wrong("a list");
    }
    if (type in SCALARS) return SCALARS[type]!.is(value) ? [] : wrong(SCALARS[type]!.what);
    if (typeof value !== "object" || Array.isArray(value)) return wrong("an object");
    const fields = type[0] === "{" ? undefined : this.#fields(type);
    return all(
      value,
      (key) => (fields ? fields.find(({ name }) => name === key)?.type : inner),
      (key) => `.${key}`,
    );
  }

  #normal(value: unknown, type: string): unknown {
    const inner = type.slice(1);
    if (value === undefined || value === null) return undefined;
    if (type[0] === "*") return this.#normal(value, inner);
    if (type[0] === "[") return (value as unknown[]).map((each) => this.#normal(each, inner));
    if (type === "q") return canonicalQuantity(value);
    if (type in SCALARS) return value;
    const fields = type[0] === "{" ? undefined : this.#fields(type);
    const entries = Object.entries(value).flatMap(([key, each]) => {
      const field = fields?.find(({ name }) => name === key);
      if (fields && !field) return [[key, each]];
      return field?.omitsEmpty && isEmpty(each, field.type) ? [] : [[key, this.#normal(each, field?.type ?? inner)]];
    });
    return Object.fromEntries(entries.filter(([, each]) => each !== undefined));
  }

  #fields(type: string): readonly GoField[] {
    const fields = this.#structs.get(type);
    if (!fields) throw new TypeError(`no Go type ${type}`);
    return fields;
  }

  #value(value: unknown, type: string): string {
    const inner = type.slice(1);
    switch (type[0]) {
      case "*":
        return value === undefined || value === null ? "null" : this.#value(value, inner);
      case "[":
        return value ? `[${(value as unknown[]).map((each) => this.#value(each, inner)).join(",")}]` : "null";
      case "{":
        return value ? this.#map(value as JsonObject, inner) : "null";
    }
    if (type === "s") return text(value === undefined ? "" : String(value));
    if (type === "n") return String(value ?? 0);
    if (type === "b") return String(value ?? false);
    if (type === "q") return text(value === undefined ? "0" : canonicalQuantity(value));
    if (type === "i") return typeof value === "string" ? text(value) : String(value ?? 0);
    if (type === "t") return value ? text(String(value)) : "null";
    return this.#struct((value ?? {}) as JsonObject, type);
  }

  /** Fields unknown to the Go types come last, so that changing them also changes the hash. */
  #struct(value: JsonObject, type: string): string {
    const fields = this.#fields(type);
    const shown = fields.filter(({ name, omitsEmpty, type }) => !omitsEmpty || !isEmpty(value[name], type));
    const known = shown.map(({ name, type }) => `${text(name)}:${this.#value(value[name], type)}`);
    const newer = Object.keys(value).filter((key) => !fields.some(({ name }) => name === key));
    return `{${[...known, ...newer.sort().map((key) => `${text(key)}:${JSON.stringify(value[key])}`)].join(",")}}`;
  }

  #map(value: JsonObject, type: string): string {
    const keys = Object.keys(value).sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
    return `{${keys.map((key) => `${text(key)}:${this.#value(value[key], type)}`).join(",")}}`;
  }
}

const isInteger = (value: unknown): boolean => Number.isInteger(value);
const isText = (value: unknown): boolean => typeof value === "string";

/** The scalar types. */
const SCALARS: Readonly<Record<string, { readonly what: string; readonly is: (value: unknown) => boolean }>> = {
  s: { what: "a string", is: isText },
  n: { what: "an integer", is: isInteger },
  b: { what: "true or false", is: (value) => typeof value === "boolean" },
  i: { what: "a string or an integer", is: (value) => isText(value) || isInteger(value) },
  t: { what: "a time", is: isText },
  q: { what: "a quantity", is: isQuantity },
};

function isQuantity(value: unknown): boolean {
  try {
    return canonicalQuantity(value) !== "";
  } catch {
    return false;
  }
}

function canonicalQuantity(value: unknown): string {
  return formatQuantity(parseQuantity(value as string));
}

function typeOf({ kind }: { readonly kind?: string }): string {
  return kind === "HorizontalPodAutoscaler" ? `Autoscaling${kind}` : `${kind}`;
}

/** Whether `omitempty` drops the value. It never drops a struct, and drops a pointer only if it is nil. */
function isEmpty(value: unknown, type: string): boolean {
  if (/^[A-Zqit]/.test(type)) return false;
  if (value === undefined || value === null) return true;
  if (type[0] === "[" || type[0] === "{") return Object.keys(value).length === 0;
  return type[0] !== "*" && (value === "" || value === 0 || value === false);
}

/** A JSON string as Go before 1.22 writes it: escapes HTML characters, and writes `\\b` and `\\f` as `\\u` escapes. */
function text(value: string): string {
  return JSON.stringify(value)
    .replace(/[<>&\u2028\u2029]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`)
    .replace(/(?<!\\)((?:\\\\)*)\\([bf])/g, (_all, before, char) => `${before}\\u000${char === "b" ? "8" : "c"}`);
}
