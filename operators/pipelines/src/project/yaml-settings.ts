import { isAlias, isMap, isScalar, isSeq, LineCounter, type Node, parseDocument, Scalar } from "yaml";
import { faultAt } from "./problem-error.js";
import { emptyMap, type Setting, type SettingEntry, type SettingMap, wrongType } from "./setting.js";
import type { Place, SourceText } from "./source-text.js";

/** Reads a YAML file whose top is a map. An empty file is an empty map. Throws a `ProblemError`. */
export function yamlSettings(path: string, text: string): SettingMap {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, maxAliasCount: 100 } as object);
  const placeAt = (offset: number): Place => {
    const { line, col } = lines.linePos(offset);
    return { path, line: Math.max(1, line), column: Math.max(1, col) };
  };
  // Report only the first error: later ones are mostly its consequence.
  const [error] = document.errors;
  if (error) throw faultAt(placeAt(error.pos[0]), `invalid YAML: ${error.message}`);
  const top = { path, line: 1, column: 1 };
  if (document.contents === null) return emptyMap(top);
  const reader = new NodeReader(path, text, placeAt, (node) => (isAlias(node) ? node.resolve(document) : node));
  const setting = reader.setting(document.contents as Node, top);
  if (setting.type === "scalar" && setting.value === null) return emptyMap(top);
  if (setting.type !== "map") throw wrongType("the file", setting, "a map of keys and values");
  return setting;
}

class NodeReader {
  readonly #path: string;
  readonly #file: string;
  readonly #placeAt: (offset: number) => Place;
  readonly #resolve: (node: Node) => Node | undefined;
  #depth = 0;

  constructor(
    path: string,
    file: string,
    placeAt: (offset: number) => Place,
    resolve: (node: Node) => Node | undefined,
  ) {
    this.#path = path;
    this.#file = file;
    this.#placeAt = placeAt;
    this.#resolve = resolve;
  }

  setting(raw: Node | null | undefined, otherwise: Place): Setting {
    const place = raw?.range ? this.#placeAt(raw.range[0]) : otherwise;
    const node = raw && this.#resolve(raw);
    if (isAlias(raw) && !node) throw faultAt(place, `invalid YAML: there is no anchor ${raw.source}`);
    if (++this.#depth > 50) throw faultAt(place, "the YAML is nested too deeply, or refers to itself");
    try {
      if (isMap(node)) return this.#map(node.items, place);
      if (isSeq(node))
        return { type: "list", place, items: node.items.map((item) => this.setting(item as Node, place)) };
      return this.#scalar(isScalar(node) ? node : new Scalar(null), place);
    } finally {
      this.#depth--;
    }
  }

  #map(pairs: readonly { readonly key: unknown; readonly value: unknown }[], place: Place): Setting {
    const entries = new Map<string, SettingEntry>();
    for (const { key, value } of pairs) {
      const keyNode = key as Scalar;
      const keyPlace = keyNode.range ? this.#placeAt(keyNode.range[0]) : place;
      entries.set(String(keyNode.value), { key: keyPlace, value: this.setting(value as Node, keyPlace) });
    }
    return { type: "map", place, entries };
  }

  #scalar(node: Scalar, place: Place): Setting {
    const { value } = node;
    const isPlain = value === null || ["string", "number", "boolean"].includes(typeof value);
    const text = typeof value === "string" ? value : value === null ? "" : (node.source ?? String(value));
    return {
      type: "scalar",
      place,
      value: isPlain ? (value as string | number | boolean | null) : text,
      text: { text, path: this.#path, origin: this.#origin(node, text) },
    };
  }

  /** Maps the text of a value to its places in the file, where folded lines, indents and escapes look different. */
  #origin(node: Scalar, text: string): SourceText["origin"] {
    const [start, end] = node.range ?? [0, 0];
    const file = this.#file;
    const isBlock = node.type === "BLOCK_LITERAL" || node.type === "BLOCK_FOLDED";
    let at = isBlock ? file.indexOf("\n", start) + 1 : start + (node.type?.startsWith("QUOTE") ? 1 : 0);
    const indent = isBlock ? indentOf(file.slice(start, end), text) : 0;
    const pieces: [number, number, number][] = [];
    let isOpen = false;
    for (let offset = 0; offset < text.length && at < end; ) {
      if (!isOpen) {
        if (isBlock && file[at - 1] === "\n") for (const stop = at + indent; at < stop && file[at] === " "; at++);
        const { line, column } = this.#placeAt(at);
        if (text[offset] !== "\n" || offset === 0) pieces.push([offset, line, column]);
        isOpen = true;
      }
      const isEscape = node.type === "QUOTE_DOUBLE" && file[at] === "\\";
      if (text[offset] === file[at] && !isEscape) {
        isOpen = text[offset] !== "\n";
        offset++;
        at++;
        if (node.type === "QUOTE_SINGLE" && text[offset - 1] === "'") {
          at++;
          isOpen = false;
        }
        continue;
      }
      isOpen = false;
      if (isEscape) {
        const code = /^\\(x[\da-f]{2}|u[\da-f]{4}|U[\da-f]{8}|\r?\n[ \t]*|[\s\S])/i.exec(file.slice(at, at + 80))![0];
        if (!/^\\\r?\n/.test(code)) offset++;
        at += code.length;
      } else if (/\s/.test(file[at]!)) {
        const gap = /^\s+/.exec(file.slice(at, end))![0];
        if (/\s/.test(text[offset]!)) offset++;
        at += gap.length;
      } else at++;
    }
    if (pieces.length === 0) {
      const { line, column } = this.#placeAt(start);
      return [[0, line, column]];
    }
    return withoutRepeats(text, pieces);
  }
}

/** The indentation of a block scalar: how many more spaces its first line has in the file than in the text. */
function indentOf(block: string, text: string): number {
  const spaces = (some: readonly string[]) => /^ */.exec(some.find((line) => line.trim() !== "") ?? "")![0].length;
  return spaces(block.split("\n").slice(1)) - spaces(text.split("\n"));
}

/** Drops each piece that begins where the piece before it leads anyway. */
function withoutRepeats(text: string, pieces: readonly (readonly [number, number, number])[]): SourceText["origin"] {
  const kept: (readonly [number, number, number])[] = [];
  for (const piece of pieces) {
    const base = kept.at(-1);
    const isNext = base?.[2] === piece[2] && text[piece[0] - 1] === "\n";
    const breaks = base && isNext ? text.slice(base[0], piece[0]).split("\n").length - 1 : -1;
    if (!base || base[1] + breaks !== piece[1]) kept.push(piece);
  }
  return kept;
}
