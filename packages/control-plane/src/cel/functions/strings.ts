import { regex } from "../../schema/regex.js";
import { lesser, Range } from "../costs/range.js";
import { BOOL, DYN, INT, listOf, STRING } from "../types/type.js";
import { ListValue } from "../values/collection.js";
import { type CelValue, Failure, NO_SUCH_OVERLOAD } from "../values/value.js";
import { sizeOf } from "../values/value-type.js";
import {
  declare,
  type EstimatedNode,
  type FunctionCost,
  type FunctionDeclaration,
  type Implementation,
  method,
  overload,
} from "./declaration.js";
import { matchingPattern, readingText, TEXT_FACTOR } from "./text-cost.js";
import { formatText } from "./text-format.js";

const TEXTS = listOf(STRING);

/** String functions of CEL, of its extensions, and Kubernetes' regular expressions. Positions count characters. */
export const strings: readonly FunctionDeclaration[] = [
  declare("contains", [method("contains_string", [STRING, STRING], BOOL, undefined, containing())], {
    apply: onTexts((text, part) => text.includes(part)),
  }),
  declare("startsWith", [method("starts_with_string", [STRING, STRING], BOOL, undefined, readingPart())], {
    apply: onTexts((text, part) => text.startsWith(part)),
  }),
  declare("endsWith", [method("ends_with_string", [STRING, STRING], BOOL, undefined, readingPart())], {
    apply: onTexts((text, part) => text.endsWith(part)),
  }),
  declare(
    "matches",
    [
      overload("matches", [STRING, STRING], BOOL),
      method("matches_string", [STRING, STRING], BOOL, undefined, matchingPattern(false)),
    ],
    {
      apply: (text, pattern) => {
        if (typeof text !== "string" || typeof pattern !== "string") return NO_SUCH_OVERLOAD;
        const compiled = regex(pattern);
        return "error" in compiled ? new Failure(compiled.error) : compiled.test(text);
      },
    },
  ),
  declare("find", [method("string_find_string", [STRING, STRING], STRING, found)], { cost: matchingPattern(true) }),
  declare(
    "findAll",
    [
      method("string_find_all_string", [STRING, STRING], TEXTS, allFound),
      method("string_find_all_string_int", [STRING, STRING, INT], TEXTS, allFound),
    ],
    { cost: matchingPattern(true) },
  ),
  declare("charAt", [
    method("string_char_at_int", [STRING, INT], STRING, (text, index) => {
      const characters = [...(text as string)];
      const at = Number(index as bigint);
      return at < 0 || at > characters.length ? outOfRange(index!) : (characters[at] ?? "");
    }),
  ]),
  declare("lowerAscii", [method("string_lower_ascii", [STRING], STRING, lowered)], { cost: readingText(1, true) }),
  declare("upperAscii", [method("string_upper_ascii", [STRING], STRING, raised)], { cost: readingText(1, true) }),
  declare("trim", [method("string_trim", [STRING], STRING, trimmed)], { cost: readingText(1, true) }),
  declare(
    "substring",
    [
      method("string_substring_int", [STRING, INT], STRING, substring),
      method("string_substring_int_int", [STRING, INT, INT], STRING, substring),
    ],
    { cost: readingText(1, true) },
  ),
  declare(
    "replace",
    [
      method("string_replace_string_string", [STRING, STRING, STRING], STRING, replaced),
      method("string_replace_string_string_int", [STRING, STRING, STRING, INT], STRING, replaced),
    ],
    { cost: { ...readingText(2), estimate: replacing } },
  ),
  declare(
    "split",
    [
      method("string_split_string", [STRING, STRING], TEXTS, split),
      method("string_split_string_int", [STRING, STRING, INT], TEXTS, split),
    ],
    { cost: { ...readingText(2), estimate: splitting } },
  ),
  declare(
    "join",
    [method("list_join", [TEXTS], STRING, joined), method("list_join_string", [TEXTS, STRING], STRING, joined)],
    {
      cost: {
        estimate: joining,
        track: (_args, result) => Math.ceil(sizeOf(result) * 2 * TEXT_FACTOR),
        isOfResult: true,
      },
    },
  ),
  declare("strings.quote", [
    overload("strings_quote", [STRING], STRING, quoted, {
      ...readingText(1),
      estimate: ({ args: [text] }) => {
        const { min, max } = text!.size;
        return { cost: text!.size.scaled(TEXT_FACTOR), size: new Range(min + 2n, BigInt.asUintN(64, max * 2n + 2n)) };
      },
    }),
  ]),
  declare("format", [
    method(
      "string_format",
      [STRING, listOf(DYN)],
      STRING,
      (text, args) => formatText(text as string, args as ListValue),
      {
        estimate: ({ target }) => ({ cost: target!.size.scaled(TEXT_FACTOR) }),
        track: ([text]) => Math.ceil(sizeOf(text!) * TEXT_FACTOR),
      },
    ),
  ]),
];

/** Overloads of functions that lists have as well. */
export const textIndexOverloads = {
  indexOf: [
    method("string_index_of_string", [STRING, STRING], INT, indexOf),
    method("string_index_of_string_int", [STRING, STRING, INT], INT, indexOf),
  ],
  lastIndexOf: [
    method("string_last_index_of_string", [STRING, STRING], INT, lastIndexOf),
    method("string_last_index_of_string_int", [STRING, STRING, INT], INT, lastIndexOf),
  ],
};

function onTexts(work: (text: string, part: string) => CelValue): Implementation {
  return (text, part) => (typeof text === "string" && typeof part === "string" ? work(text, part) : NO_SUCH_OVERLOAD);
}

function readingPart(): FunctionCost {
  return {
    estimate: ({ args: [part] }) => ({ cost: part!.size.scaled(TEXT_FACTOR) }),
    track: ([text]) => Math.ceil(sizeOf(text!) * TEXT_FACTOR),
  };
}

function containing(): FunctionCost {
  return {
    estimate: ({ target, args: [part] }) => ({
      cost: target!.size.scaled(TEXT_FACTOR).times(part!.size.scaled(TEXT_FACTOR)),
    }),
    track: ([text, part]) => Math.ceil(sizeOf(text!) * TEXT_FACTOR) * Math.ceil(sizeOf(part!) * TEXT_FACTOR),
  };
}

function matchesOf(pattern: CelValue, text: CelValue, limit: number): readonly string[] | Failure {
  const compiled = regex(pattern as string);
  if ("error" in compiled) return new Failure(`Illegal regex: ${compiled.error}`);
  return compiled.find(text as string, limit);
}

function found(text: CelValue, pattern: CelValue): CelValue {
  const matches = matchesOf(pattern, text, 1);
  return matches instanceof Failure ? matches : (matches[0] ?? "");
}

function allFound(text: CelValue, pattern: CelValue, limit: CelValue = -1n): CelValue {
  const matches = matchesOf(pattern, text, Number(limit as bigint));
  return matches instanceof Failure ? matches : new ListValue(matches);
}

function outOfRange(index: CelValue): Failure {
  return new Failure(`index out of range: ${String(index)}`);
}

function lowered(text: CelValue): CelValue {
  return (text as string).replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}

function raised(text: CelValue): CelValue {
  return (text as string).replace(/[a-z]/g, (letter) => letter.toUpperCase());
}

/** Unlike JavaScript, Go treats U+0085 (next line) as space, but not the byte order mark. */
function trimmed(text: CelValue): CelValue {
  const space = "[\\t\\n\\v\\f\\r \\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]";
  return (text as string).replace(new RegExp(`^${space}+|${space}+$`, "g"), "");
}

function indexOf(text: CelValue, part: CelValue, from: CelValue = 0n): CelValue {
  if (part === "") return from;
  if ((from as bigint) < 0n) return outOfRange(from);
  const characters = [...(text as string)];
  const start = Number(from as bigint);
  if (start >= characters.length) return -1n;
  const rest = characters.slice(start).join("");
  const index = rest.indexOf(part as string);
  return index < 0 ? -1n : BigInt(start + [...rest.slice(0, index)].length);
}

function lastIndexOf(text: CelValue, part: CelValue, from?: CelValue): CelValue {
  const characters = [...(text as string)];
  if (part === "") return from ?? BigInt(characters.length);
  if (from !== undefined && (from as bigint) < 0n) return outOfRange(from);
  const start = from === undefined ? characters.length - 1 : Number(from as bigint);
  if (start >= characters.length || characters.length === 0) return -1n;
  const index = (text as string).lastIndexOf(part as string, characters.slice(0, start).join("").length);
  return index < 0 ? -1n : BigInt([...(text as string).slice(0, index)].length);
}

function substring(text: CelValue, from: CelValue, to?: CelValue): CelValue {
  const characters = [...(text as string)];
  const end = (to as bigint | undefined) ?? BigInt(characters.length);
  const start = from as bigint;
  if (to !== undefined && start > end) return new Failure(`invalid substring range. start: ${start}, end: ${end}`);
  if (start < 0n || start > BigInt(characters.length)) return outOfRange(start);
  if (end < 0n || end > BigInt(characters.length)) return outOfRange(end);
  return characters.slice(Number(start), Number(end)).join("");
}

function replaced(text: CelValue, old: CelValue, replacement: CelValue, limit: CelValue = -1n): CelValue {
  const all = old === "" ? ["", ...(text as string), ""] : (text as string).split(old as string);
  const most = (limit as bigint) < 0n ? all.length - 1 : Number(limit as bigint);
  const head = all.slice(0, most + 1).join(replacement as string);
  const tail = all.slice(most + 1);
  return tail.length === 0 ? head : `${head}${old as string}${tail.join(old as string)}`;
}

function split(text: CelValue, separator: CelValue, limit: CelValue = -1n): CelValue {
  const most = Number(limit as bigint);
  if (most === 0) return ListValue.empty;
  const parts = separator === "" ? [...(text as string)] : (text as string).split(separator as string);
  if (most < 0 || parts.length <= most) return new ListValue(parts);
  return new ListValue([...parts.slice(0, most - 1), parts.slice(most - 1).join(separator as string)]);
}

function joined(list: CelValue, separator: CelValue = ""): CelValue {
  const { items } = list as ListValue;
  const wrong = items.find((item) => typeof item !== "string");
  return wrong === undefined ? items.join(separator as string) : NO_SUCH_OVERLOAD;
}

function quoted(text: CelValue): CelValue {
  const names: Readonly<Record<string, string>> = {
    "\u0007": "a",
    "\b": "b",
    "\f": "f",
    "\n": "n",
    "\r": "r",
    "\t": "t",
    "\v": "v",
    "\\": "\\",
    '"': '"',
  };
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters that need an escape.
  return `"${(text as string).replace(/[\u0007-\u000d\\"]/g, (character) => `\\${names[character] ?? character}`)}"`;
}

interface TextCall {
  readonly target: EstimatedNode | undefined;
  readonly args: readonly EstimatedNode[];
}

function replacing({ target, args: [old, replacement] }: TextCall): { cost: Range; size: Range } | undefined {
  if (target === undefined || old === undefined || replacement === undefined) return undefined;
  const { size } = target;
  const longest = replacementCount(old.size.min, size.max, replacement.size.max <= old.size.min);
  const shortest = replacementCount(old.size.max, size.min, old.size.max <= replacement.size.min);
  const count = new Range(shortest.count, longest.count);
  const kept = new Range(shortest.kept, longest.kept);
  return { cost: size.scaled(2 * TEXT_FACTOR), size: count.times(replacement.size).plus(kept) };
}

/**
 * How many replacements are possible, and how much text remains. The empty text matches before and after every
 * character.
 */
function replacementCount(
  oldSize: bigint,
  size: bigint,
  keepsSize: boolean,
): { readonly count: bigint; readonly kept: bigint } {
  if (oldSize === 0n) return { count: size < Range.unknown.max ? size + 1n : size, kept: size };
  if (keepsSize) return { count: 0n, kept: size };
  return { count: lesser(BigInt(Math.ceil(Number(size) / Number(oldSize))), Range.unknown.max), kept: 0n };
}

function splitting({ target, args: [, limit] }: TextCall): { cost: Range; size: Range } | undefined {
  if (target === undefined) return undefined;
  const { size } = target;
  const isGiven = limit?.expression.kind === "literal" && typeof limit.expression.value === "bigint";
  const max = isGiven ? BigInt.asUintN(64, (limit.expression as { value: bigint }).value) : size.max;
  return { cost: size.scaled(2 * TEXT_FACTOR), size: new Range(0n, max) };
}

function joining({ target, args: [separator] }: TextCall): { cost: Range; size: Range } | undefined {
  if (target === undefined) return undefined;
  const { size: count, items } = target;
  let size = items === undefined ? Range.zero : count.times(items.size);
  if (separator !== undefined) {
    const less = (value: bigint): bigint => (value > 0n ? value - 1n : 0n);
    size = size.plus(separator.size.times(new Range(less(count.min), less(count.max))));
  }
  return { cost: size.scaled(TEXT_FACTOR), size };
}
