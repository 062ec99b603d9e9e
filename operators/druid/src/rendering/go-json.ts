import { createHash } from "node:crypto";
import type { JsonObject } from "setpoint";
import { formatQuantity, parseQuantity } from "setpoint/quantity";
import { GO_FIELDS } from "./go-fields.js";

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

/** The bytes that Go's json.Marshal makes of a Kubernetes object, as the types of druid-operator have it. */
export class GoJson {
  readonly #structs = structs();

  /** base64 of SHA-1, which druid-operator puts on its objects as the annotation `druidOpResourceHash`. */
  hash(object: object & { readonly kind?: string }): string {
    return createHash("sha1").update(this.marshal(object)).digest("base64");
  }

  marshal(object: object & { readonly kind?: string }): string {
    const prefix = object.kind === "HorizontalPodAutoscaler" ? "Autoscaling" : "";
    return this.#value(object, `${prefix}${object.kind}`);
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
    if (type === "q") return text(value === undefined ? "0" : formatQuantity(parseQuantity(value as string)));
    if (type === "i") return typeof value === "string" ? text(value) : String(value ?? 0);
    if (type === "t") return value ? text(String(value)) : "null";
    return this.#struct((value ?? {}) as JsonObject, type);
  }

  #struct(value: JsonObject, type: string): string {
    const fields = this.#structs.get(type);
    if (!fields) throw new TypeError(`no Go type ${type}`);
    const shown = fields.filter(({ name, omitsEmpty, type }) => !omitsEmpty || !isEmpty(value[name], type));
    return `{${shown.map(({ name, type }) => `${text(name)}:${this.#value(value[name], type)}`).join(",")}}`;
  }

  #map(value: JsonObject, type: string): string {
    const keys = Object.keys(value).sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
    return `{${keys.map((key) => `${text(key)}:${this.#value(value[key], type)}`).join(",")}}`;
  }
}

/** What `omitempty` leaves out: never a struct, and a pointer only where it is nil. */
function isEmpty(value: unknown, type: string): boolean {
  if (/^[A-Zqit]/.test(type)) return false;
  if (value === undefined || value === null) return true;
  if (type[0] === "[" || type[0] === "{") return Object.keys(value).length === 0;
  return type[0] !== "*" && (value === "" || value === 0 || value === false);
}

/** Go before 1.22: escapes what HTML and JavaScript could trip over, and knows no `\\b` and `\\f`. */
function text(value: string): string {
  return JSON.stringify(value)
    .replace(/[<>&\u2028\u2029]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`)
    .replace(/(?<!\\)((?:\\\\)*)\\([bf])/g, (_all, before, char) => `${before}\\u000${char === "b" ? "8" : "c"}`);
}
