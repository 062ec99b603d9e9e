import { Buffer } from "node:buffer";
import type { Kind } from "../kinds/kind.js";
import type { LogFields, Logger } from "./logger.js";

/** Shorter values are words of everyday text: to mask them would hide what the text says. */
const MIN_LENGTH = 6;
/** How many values are known at most; the oldest are forgotten first. */
const MAX_VALUES = 10_000;
const MASK = "***";

/**
 * Knows the values of the Secrets that runs have read or written, and takes them out of whatever people may see: logs,
 * events, timeline, conditions, errors.
 */
export class SecretMask {
  readonly #values = new Set<string>();

  /** Takes in an object that a run read or states; anything but a Secret is passed over. */
  learn(kind: Kind, object: unknown): void {
    if (kind.kind !== "Secret" || kind.group !== "" || !object) return;
    const { data = {}, stringData = {} } = object as Partial<Record<"data" | "stringData", Record<string, string>>>;
    for (const encoded of Object.values(data)) {
      this.#add(encoded);
      this.#add(Buffer.from(encoded, "base64").toString("utf8"));
    }
    for (const value of Object.values(stringData)) {
      this.#add(value);
      this.#add(Buffer.from(value).toString("base64"));
    }
  }

  text(text: string): string {
    const found: string[] = [];
    for (const value of this.#values) if (text.includes(value)) found.push(value);
    // The longest first: a value that another one begins with would leave the rest of that to be seen.
    found.sort((left, right) => right.length - left.length);
    return found.reduce((masked, value) => masked.replaceAll(value, MASK), text);
  }

  /** The same error, its message, stack and causes masked in place: whoever gets it next must not see them either. */
  error<Thrown>(thrown: Thrown): Thrown {
    for (let error: unknown = thrown; error instanceof Error; error = error.cause) {
      for (const field of ["message", "stack"] as const) {
        const shown = error[field];
        const masked = shown && this.text(shown);
        if (masked !== shown)
          Object.defineProperty(error, field, { value: masked, configurable: true, writable: true });
      }
    }
    return typeof thrown === "string" ? (this.text(thrown) as Thrown) : thrown;
  }

  /** The same log, without values of Secrets. */
  logger(log: Logger): Logger {
    const shown = (fields: LogFields = {}): LogFields => this.#value(fields) as LogFields;
    return {
      debug: (message, fields) => log.debug(this.text(message), shown(fields)),
      info: (message, fields) => log.info(this.text(message), shown(fields)),
      warn: (message, fields) => log.warn(this.text(message), shown(fields)),
      error: (message, fields) => log.error(this.text(message), shown(fields)),
      with: (fields) => this.logger(log.with(shown(fields))),
    };
  }

  #value(value: unknown): unknown {
    if (this.#values.size === 0) return value;
    if (typeof value === "string") return this.text(value);
    if (value instanceof Error) return this.error(value);
    if (Array.isArray(value)) return value.map((each) => this.#value(each));
    if (typeof value !== "object" || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value;
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, this.#value(each)]));
  }

  #add(value: string): void {
    if (value.length < MIN_LENGTH) return;
    this.#values.add(value);
    if (this.#values.size > MAX_VALUES) this.#values.delete(this.#values.values().next().value!);
  }
}
