import { Buffer, isUtf8 } from "node:buffer";
import type { RawRequest } from "./client.js";
import { type WarnedRequest, warnedRequest } from "./warned-request.js";

/** How many warnings to remember, so that they are not repeated; beyond this the oldest is forgotten. */
const REMEMBERED = 1000;

type OnWarning = (text: string, request: WarnedRequest) => void;

/** Passes on the server's `Warning` headers, each text once per kind: the same text may apply to two kinds. */
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

/** Node decodes headers as Latin-1, but API servers send UTF-8. */
function decoded(text: string): string {
  const bytes = Buffer.from(text, "latin1");
  return bytes.toString("latin1") === text && isUtf8(bytes) ? bytes.toString("utf8") : text;
}
