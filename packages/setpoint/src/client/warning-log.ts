/** Warnings that are remembered so as not to be repeated; the oldest is forgotten beyond this. */
const REMEMBERED = 1000;

/** Passes on the server's `Warning` headers, each text once. */
export class WarningLog {
  readonly #seen = new Set<string>();
  readonly #onWarning: ((text: string) => void) | undefined;

  constructor(onWarning?: (text: string) => void) {
    this.#onWarning = onWarning;
  }

  take(header: string | readonly string[] | undefined): void {
    if (header === undefined || !this.#onWarning) return;
    const values = typeof header === "string" ? [header] : header;
    for (const value of values) for (const text of warningTexts(value)) this.#tell(text);
  }

  #tell(text: string): void {
    if (this.#seen.has(text)) return;
    this.#seen.add(text);
    if (this.#seen.size > REMEMBERED)
      for (const oldest of this.#seen) {
        this.#seen.delete(oldest);
        break;
      }
    this.#onWarning?.(text);
  }
}

/** The texts of a `Warning` header: `299 - "first", 299 - "second"`. Quotes within a text are escaped with a backslash. */
export function warningTexts(header: string): string[] {
  const texts: string[] = [];
  for (const match of header.matchAll(/\d{3} \S+ "((?:[^"\\]|\\.)*)"/g))
    texts.push(match[1]!.replaceAll(/\\(.)/g, "$1"));
  return texts;
}
