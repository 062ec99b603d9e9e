import { Buffer, isUtf8 } from "node:buffer";
import type { RawRequest } from "./client.js";
import { type WarnedRequest, warnedRequest } from "./warned-request.js";

/** Warnings that are remembered so as not to be repeated; the oldest is forgotten beyond this. */
const REMEMBERED = 1000;

type OnWarning = (text: string, request: WarnedRequest) => void;

/** Passes on the server's `Warning` headers, each text once for each kind: the same words may be true of two of them. */
export class WarningLog {
  readonly #seen = new Set<string>();
  readonly #onWarning: OnWarning | undefined;

  constructor(onWarning?: OnWarning) {
    this.#onWarning = onWarning;
  }

  take(header: string | readonly string[] | undefined, request: RawRequest): void {
    if (header === undefined || !this.#onWarning) return;
    const values = typeof header === "string" ? [header] : header;
    for (const value of values) {
      for (const text of warningTexts(value))
        if (this.#isNew(text, request)) this.#onWarning(text, warnedRequest(request));
    }
  }

  #isNew(text: string, { kind }: RawRequest): boolean {
    const id = `${kind?.group} ${kind?.kind} ${text}`;
    if (this.#seen.has(id)) return false;
    this.#seen.add(id);
    if (this.#seen.size > REMEMBERED) this.#seen.delete(this.#seen.values().next().value!);
    return true;
  }
}

/** The texts of a `Warning` header: `299 - "first", 299 - "second"`. Quotes within a text are escaped with a backslash. */
function warningTexts(header: string): string[] {
  const texts: string[] = [];
  for (const match of header.matchAll(/\d{3} \S+ "((?:[^"\\]|\\.)*)"/g))
    texts.push(decoded(match[1]!.replaceAll(/\\(.)/g, "$1")));
  return texts;
}

/** Headers are read as Latin-1, whatever their bytes stand for: those of API servers are UTF-8. */
function decoded(text: string): string {
  const bytes = Buffer.from(text, "latin1");
  return bytes.toString("latin1") === text && isUtf8(bytes) ? bytes.toString("utf8") : text;
}
