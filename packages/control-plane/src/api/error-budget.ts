import type { FieldError } from "./status-error.js";

/**
 * Limits on what a response says about the errors of a request. The real server limits only warnings and the findings
 * of strict decoding, so a small request can cause gigabytes of response there.
 */
export const ERROR_BUDGET = {
  /** Field errors of one response. */
  causes: 1000,
  /** Characters of a message, and of all causes together. */
  characters: 256 * 1024,
  /** Characters of one value that an error quotes. */
  valueCharacters: 64 * 1024,
  /** Unknown and duplicate fields, as in the real server's decoder. */
  findings: 100,
  /**
   * Characters of all warnings together. If there are more, each warning is cut and the rest are dropped, as on the
   * real server.
   */
  warningCharacters: 4096,
  charactersOfEachWarning: 256,
} as const;

/** Cuts a text that is too long, and says how much is missing. */
export function cut(text: string, most: number = ERROR_BUDGET.characters): string {
  if (text.length <= most) return text;
  const start = text.slice(0, most);
  // Do not cut a surrogate pair in half.
  const whole = /[\ud800-\udbff]$/.test(start) ? start.slice(0, -1) : start;
  return `${whole}… (${text.length - whole.length} more characters)`;
}

/** An empty list of field errors. It drops errors that a response would not show. */
export function fieldErrors(): FieldError[] {
  return new BoundedErrors();
}

class BoundedErrors extends Array<FieldError> {
  /** Arrays derived from it, such as by `map`, are ordinary arrays. */
  static override get [Symbol.species](): ArrayConstructor {
    return Array;
  }

  override push(...errors: FieldError[]): number {
    // Keep one more than is shown, so that the response can say that there are more.
    for (const error of errors) if (this.length <= ERROR_BUDGET.causes) this[this.length] = error;
    return this.length;
  }
}

/** Whether a list has all errors that a response shows, so that validation can stop. */
export function isFull(errors: readonly FieldError[]): boolean {
  return errors.length > ERROR_BUDGET.causes;
}

/** Adds errors to a list. Passing a hundred thousand errors to `push` as arguments would overflow the stack. */
export function addErrors(errors: FieldError[], more: Iterable<FieldError>): void {
  for (const error of more) errors.push(error);
}

export interface ShownErrors {
  readonly shown: readonly FieldError[];
  /** Whether there are more errors. */
  readonly isCut: boolean;
}

/** The errors that fit into a response. Formats no others. */
export function withinBudget(errors: Iterable<FieldError>): ShownErrors {
  const shown: FieldError[] = [];
  let characters = 0;
  for (const { type, field, detail } of errors) {
    if (shown.length === ERROR_BUDGET.causes || characters > ERROR_BUDGET.characters) return { shown, isCut: true };
    const error = { type, field: cut(field, ERROR_BUDGET.valueCharacters), detail: cut(detail) };
    characters += error.field.length + error.detail.length;
    shown.push(error);
  }
  return { shown, isCut: false };
}

/** Texts about one request, as many as fit into a response. Ignores the rest. */
export class BoundedTexts {
  readonly #texts: string[] = [];
  #characters = 0;

  add(text: string): void {
    if (this.isFull) return;
    this.#characters += text.length;
    this.#texts.push(text);
  }

  get isFull(): boolean {
    return this.#texts.length >= ERROR_BUDGET.findings || this.#characters > ERROR_BUDGET.characters;
  }

  get texts(): readonly string[] {
    return this.#texts;
  }
}

/** The warnings of one response, without duplicates and limited as on the real server. */
export class Warnings {
  readonly #texts = new Set<string>();
  #characters = 0;
  #isFull = false;

  add(text: string): void {
    // Ignore a text with control characters: a header holds one line.
    if (this.#isFull || text === "" || /\p{Cc}/u.test(text.slice(0, ERROR_BUDGET.characters))) return;
    const kept = cut(text, ERROR_BUDGET.characters);
    if (this.#texts.has(kept)) return;
    this.#texts.add(kept);
    this.#characters += Math.min(kept.length, ERROR_BUDGET.charactersOfEachWarning);
    this.#isFull = this.#characters >= ERROR_BUDGET.warningCharacters;
  }

  /** The texts for the headers, within the limits. */
  get texts(): readonly string[] {
    const texts = [...this.#texts];
    if (texts.reduce((sum, { length }) => sum + length, 0) <= ERROR_BUDGET.warningCharacters) return texts;
    let total = 0;
    const each = ERROR_BUDGET.charactersOfEachWarning;
    return texts
      .map((text) => [...text.slice(0, 2 * each)].slice(0, each).join(""))
      .filter(({ length }) => {
        const fits = total < ERROR_BUDGET.warningCharacters;
        total += length;
        return fits;
      });
  }
}
