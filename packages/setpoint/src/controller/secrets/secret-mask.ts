import { Buffer } from "node:buffer";
import type { Kind } from "../../kinds/kind.js";
import type { LogFields, Logger } from "../../loop/logger.js";
import { isRecord } from "../apply/field-paths.js";
import { type SecretOptions, SecretPolicy } from "./secret-policy.js";
import { TextIndex } from "./text-index.js";

/** Shorter values occur in ordinary text: masking them would make the text useless. */
const MIN_LENGTH = 6;
/** How many object names to remember; the oldest are forgotten first. */
const MAX_NAMES = 100_000;
/** The characters of an object name; a slash separates namespace and name. */
const NAME_CHARACTER = /[A-Za-z0-9.-]/;
/** The total length of the remembered values; the oldest are forgotten first. */
const MAX_CHARACTERS = 32 * 1024 * 1024;
const MASK = "***";
/** The fields of an error that people see. */
const SHOWN_FIELDS = ["message", "stack", "cause", "errors"] as const;

export interface SecretMaskOptions extends SecretOptions {
  /** The total length of the remembered values. */
  readonly maxCharacters?: number;
}

/**
 * Remembers the values of Secrets that runs have read or written, and removes them from everything that people may see:
 * logs, events, timeline, conditions, errors, traces. {@link SecretPolicy} decides which values are secret. Names,
 * namespaces and kinds of known objects are never masked: they are public, and texts need them. The cost for a text
 * does not depend on the number of values.
 */
export class SecretMask {
  readonly #maxCharacters: number;
  readonly #policy: SecretPolicy;
  /** Known names, namespaces and kinds, the oldest first. */
  readonly #names = new Set<string>();
  /** Values by their base64 form, which servers send; the oldest first. */
  readonly #values = new Map<string, string>();
  readonly #index = new TextIndex(MIN_LENGTH);

  constructor(options: SecretMaskOptions = {}) {
    this.#maxCharacters = options.maxCharacters ?? MAX_CHARACTERS;
    this.#policy = new SecretPolicy(options);
  }

  /** Learns from an object, or a part of one, that a run read or states: the values of a Secret, and the names of all kinds. */
  learn(kind: Kind, object: unknown): void {
    this.name(kind.kind);
    // Do not look into other kinds: the object may be an item of a long list, which is parsed on first access.
    if (kind.kind !== "Secret" || kind.group !== "" || !isRecord(object)) return;
    const metadata = isRecord(object.metadata) ? object.metadata : {};
    for (const name of [metadata.namespace, metadata.name]) if (typeof name === "string") this.name(name);
    const annotations = metadata.annotations as Readonly<Record<string, string>> | undefined;
    for (const [key, encoded] of texts(object.data)) {
      if (this.#values.has(encoded)) continue;
      this.#learnValue(key, encoded, Buffer.from(encoded, "base64").toString("utf8"), annotations);
    }
    for (const [key, value] of texts(object.stringData)) {
      this.#learnValue(key, Buffer.from(value).toString("base64"), value, annotations);
    }
  }

  #learnValue(
    key: string,
    encoded: string,
    value: string,
    annotations: Readonly<Record<string, string>> | undefined,
  ): void {
    if (!this.#policy.isSecret(key, value, annotations)) return;
    this.#add(encoded, value);
    // People quote parts of a document, such as the credentials of a registry.
    for (const [field, text] of documentTexts(value)) {
      if (this.#policy.isSecret(field, text, undefined)) this.#add(Buffer.from(text).toString("base64"), text);
    }
  }

  /** Records a name, namespace or kind, or a key of both, which is not masked from now on. */
  name(key: string): void {
    for (const name of key.split("/")) {
      if (name.length < MIN_LENGTH || this.#names.has(name)) continue;
      this.#names.add(name);
      if (this.#names.size > MAX_NAMES) this.#names.delete(this.#names.values().next().value!);
    }
  }

  text(text: string): string {
    let [masked, shownTo] = ["", 0];
    for (const [start, end] of this.#index.found(text)) {
      if (this.#isName(text, start, end)) continue;
      masked += text.slice(shownTo, start) + MASK;
      shownTo = end;
    }
    return shownTo === 0 ? text : masked + text.slice(shownTo);
  }

  /**
   * The same error with message, stack and causes masked in place, because others get it next. A copy if it cannot be
   * changed.
   */
  error<Thrown>(thrown: Thrown): Thrown {
    return this.#value(thrown, new Map()) as Thrown;
  }

  /** The same logger, without values of Secrets. Never throws because of its arguments. */
  logger(log: Logger): Logger {
    const shown = (fields: LogFields = {}): LogFields => this.#fields(fields);
    return {
      debug: (message, fields) => log.debug(this.text(message), shown(fields)),
      info: (message, fields) => log.info(this.text(message), shown(fields)),
      warn: (message, fields) => log.warn(this.text(message), shown(fields)),
      error: (message, fields) => log.error(this.text(message), shown(fields)),
      with: (fields) => this.logger(log.with(shown(fields))),
    };
  }

  /** Whether the match is, or is part of, a known name. */
  #isName(text: string, start: number, end: number): boolean {
    let [from, to] = [start, end];
    while (from > 0 && NAME_CHARACTER.test(text[from - 1]!)) from--;
    while (to < text.length && NAME_CHARACTER.test(text[to]!)) to++;
    // A full stop may follow the name.
    return this.#names.has(text.slice(from, to)) || this.#names.has(text.slice(from, to).replace(/[.-]+$/, ""));
  }

  #fields(fields: LogFields): LogFields {
    try {
      return this.#value(fields, new Map()) as LogFields;
    } catch (error) {
      // A getter threw, or the value is nested too deeply.
      return { unreadable: Object.keys(fields), error: this.error(error) };
    }
  }

  /** `seen` maps each visited object to its copy, so that circular references end. */
  #value(value: unknown, seen: Map<object, unknown>): unknown {
    if (this.#values.size === 0) return value;
    if (typeof value === "string") return this.text(value);
    if (typeof value !== "object" || value === null) return value;
    if (seen.has(value)) return seen.get(value);
    if (value instanceof Error) return this.#error(value, seen);
    if (Array.isArray(value)) {
      const items: unknown[] = [];
      seen.set(value, items);
      for (const each of value) items.push(this.#value(each, seen));
      return items;
    }
    if (Object.getPrototypeOf(value) !== Object.prototype) return value;
    const copy: Record<string, unknown> = {};
    seen.set(value, copy);
    for (const [key, each] of Object.entries(value)) define(copy, key, this.#value(each, seen), true);
    return copy;
  }

  #error(error: Error, seen: Map<object, unknown>): Error {
    const target = isChangeable(error) ? error : copyOf(error);
    seen.set(error, target);
    for (const field of SHOWN_FIELDS) {
      const shown = (error as Error & { readonly errors?: unknown })[field];
      const masked = this.#value(shown, seen);
      if (masked !== shown || (target !== error && field in error)) define(target, field, masked, false);
    }
    return target;
  }

  #add(encoded: string, value: string): void {
    if (encoded.length < MIN_LENGTH || this.#values.has(encoded)) return;
    this.#values.set(encoded, value);
    this.#index.add(encoded);
    if (value.length >= MIN_LENGTH) this.#index.add(value);
    for (const [oldest, itsValue] of this.#values) {
      if (this.#index.characters <= this.#maxCharacters) break;
      this.#values.delete(oldest);
      this.#index.remove(oldest);
      if (itsValue.length >= MIN_LENGTH) this.#index.remove(itsValue);
    }
  }
}

/** The strings in `data` or `stringData`. Other values are skipped: patches have nulls, and callers make mistakes. */
function texts(fields: unknown): readonly (readonly [key: string, text: string])[] {
  if (!isRecord(fields)) return [];
  return Object.entries(fields).filter((entry): entry is [string, string] => typeof entry[1] === "string");
}

/** The strings of a JSON document, each with the name of its field; none if the text is not JSON. */
function documentTexts(value: string): readonly (readonly [field: string, text: string])[] {
  if (!value.startsWith("{")) return [];
  const found: [string, string][] = [];
  try {
    JSON.parse(value, (field: string, each: unknown) => {
      if (typeof each === "string") found.push([field, each]);
      return each;
    });
  } catch {
    return [];
  }
  return found;
}

/** Sets a field of any name, even `__proto__`. */
function define(target: object, field: string, value: unknown, enumerable: boolean): void {
  Object.defineProperty(target, field, { value, enumerable, configurable: true, writable: true });
}

function isChangeable(error: Error): boolean {
  if (!Object.isExtensible(error)) return false;
  return SHOWN_FIELDS.every((field) => Object.getOwnPropertyDescriptor(error, field)?.configurable ?? true);
}

/** A changeable error of the same class. */
function copyOf(error: Error): Error {
  const copy = Object.create(Object.getPrototypeOf(error)) as Error;
  for (const [field, descriptor] of Object.entries(Object.getOwnPropertyDescriptors(error))) {
    Object.defineProperty(copy, field, { ...descriptor, configurable: true });
  }
  return copy;
}
