import { SetpointError } from "../../errors/error.js";
import { ownField } from "../../kinds/own-field.js";

/** A value of a configuration file with its position, so that every message can name the file and the field. */
export class ConfigNode {
  readonly file: string;
  /** `clusters[0].cluster.server`; empty for the whole file. */
  readonly path: string;
  readonly value: unknown;

  constructor(value: unknown, file: string, path = "") {
    this.value = value;
    this.file = file;
    this.path = path;
  }

  /** The value of a field; undefined if the field is absent, null or empty, as for kubectl. */
  field(name: string): ConfigNode {
    const value = ownField(this.record(), name);
    const isAbsent = value === undefined || value === null || value === "";
    return new ConfigNode(isAbsent ? undefined : value, this.file, this.path ? `${this.path}.${name}` : name);
  }

  get isPresent(): boolean {
    return this.value !== undefined;
  }

  string(name: string): string | undefined {
    const node = this.field(name);
    if (node.value === undefined || typeof node.value === "string") return node.value;
    throw node.invalid(`must be a string, but is ${typeName(node.value)}`);
  }

  boolean(name: string): boolean {
    const node = this.field(name);
    if (node.value === undefined || typeof node.value === "boolean") return node.value ?? false;
    throw node.invalid(`must be true or false, but is ${typeName(node.value)}`);
  }

  list(name: string): ConfigNode[] {
    const node = this.field(name);
    if (node.value === undefined) return [];
    if (!Array.isArray(node.value)) throw node.invalid(`must be a list, but is ${typeName(node.value)}`);
    return node.value.map((item: unknown, index) => new ConfigNode(item, this.file, `${node.path}[${index}]`));
  }

  strings(name: string): string[] {
    return this.list(name).map((item) => {
      if (typeof item.value === "string") return item.value;
      throw item.invalid(`must be a string, but is ${typeName(item.value)}`);
    });
  }

  record(): Readonly<Record<string, unknown>> {
    if (typeof this.value === "object" && this.value !== null && !Array.isArray(this.value)) {
      return this.value as Record<string, unknown>;
    }
    throw this.invalid(`must be a mapping, but is ${typeName(this.value)}`);
  }

  invalid(problem: string, cause?: unknown): SetpointError {
    const place = this.path ? `${this.file}: ${this.path}` : this.file;
    return new SetpointError("KUBECONFIG_INVALID", `${place}: ${problem}`, cause === undefined ? undefined : { cause });
  }
}

function typeName(value: unknown): string {
  if (value === undefined || value === null) return "missing";
  if (Array.isArray(value)) return "a list";
  return typeof value === "object" ? "a mapping" : `a ${typeof value}`;
}
