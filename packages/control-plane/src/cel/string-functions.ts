import { goQuote } from "../schema/go-format.js";
import { regex } from "../schema/regex.js";
import type { CelFunction } from "./functions.js";
import { CelError, type CelValue, isList } from "./value.js";

/** The strings library and the regex library of Kubernetes. Positions count characters, not UTF-16 units. */
export const stringFunctions: Readonly<Record<string, CelFunction>> = {
  contains: onTexts((text, part) => text.includes(part)),
  startsWith: onTexts((text, part) => text.startsWith(part)),
  endsWith: onTexts((text, part) => text.endsWith(part)),
  lowerAscii: onText((text) => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase())),
  upperAscii: onText((text) => text.replace(/[a-z]/g, (letter) => letter.toUpperCase())),
  trim: onText((text) => text.trim()),
  reverse: onText((text) => [...text].reverse().join("")),
  "strings.quote": onText(goQuote),
  charAt: ([text, index]) => {
    if (typeof text !== "string" || typeof index !== "bigint") return undefined;
    const characters = [...text];
    const at = Number(index);
    if (at < 0 || at > characters.length) throw new CelError(`index out of range: ${at}`);
    return characters[at] ?? "";
  },
  indexOf: ([text, part, from]) => {
    if (typeof text !== "string" || typeof part !== "string") return undefined;
    const start = from === undefined ? 0 : positionIn(text, from);
    const characters = [...text];
    const found = characters.slice(start).join("").indexOf(part);
    return found < 0 ? -1n : BigInt(start + [...characters.slice(start).join("").slice(0, found)].length);
  },
  lastIndexOf: ([text, part, from]) => {
    if (typeof text !== "string" || typeof part !== "string") return undefined;
    const characters = [...text];
    const start = from === undefined ? characters.length : positionIn(text, from);
    const found = text.lastIndexOf(part, characters.slice(0, start).join("").length);
    return found < 0 ? -1n : BigInt([...text.slice(0, found)].length);
  },
  substring: ([text, from, to]) => {
    if (typeof text !== "string" || typeof from !== "bigint") return undefined;
    const characters = [...text];
    const start = Number(from);
    const end = to === undefined ? characters.length : Number(to as bigint);
    if (start < 0 || start > characters.length) throw new CelError(`index out of range: ${start}`);
    if (end < 0 || end > characters.length) throw new CelError(`index out of range: ${end}`);
    if (start > end) throw new CelError(`invalid substring range. start: ${start}, end: ${end}`);
    return characters.slice(start, end).join("");
  },
  replace: ([text, old, replacement, limit], budget) => {
    if (typeof text !== "string" || typeof old !== "string" || typeof replacement !== "string") return undefined;
    budget.spendText(text.length);
    const parts = text.split(old);
    const most = limit === undefined || (limit as bigint) < 0n ? parts.length - 1 : Number(limit as bigint);
    const head = parts.slice(0, most + 1).join(replacement);
    const result = most + 1 < parts.length ? `${head}${old}${parts.slice(most + 1).join(old)}` : head;
    budget.spendText(result.length);
    return result;
  },
  split: ([text, separator, limit], budget) => {
    if (typeof text !== "string" || typeof separator !== "string") return undefined;
    budget.spendText(text.length);
    const most = limit === undefined ? -1 : Number(limit as bigint);
    if (most === 0) return [];
    const parts = separator === "" ? [...text] : text.split(separator);
    if (most < 0 || parts.length <= most) return parts;
    return [...parts.slice(0, most - 1), parts.slice(most - 1).join(separator)];
  },
  join: ([list, separator = ""], budget) => {
    if (!isList(list!) || typeof separator !== "string") return undefined;
    if (!list.every((item) => typeof item === "string")) throw new CelError("no such overload");
    const result = list.join(separator);
    budget.spendText(result.length);
    return result;
  },
  find: ([text, pattern], budget) => {
    if (typeof text !== "string" || typeof pattern !== "string") return undefined;
    budget.spendText(text.length * Math.max(1, pattern.length / 4));
    return matchesOf(pattern, text, 1)[0] ?? "";
  },
  findAll: ([text, pattern, limit], budget) => {
    if (typeof text !== "string" || typeof pattern !== "string") return undefined;
    budget.spendText(text.length * Math.max(1, pattern.length / 4));
    return matchesOf(pattern, text, limit === undefined ? -1 : Number(limit as bigint));
  },
};

function matchesOf(pattern: string, text: string, limit: number): readonly string[] {
  const compiled = regex(pattern);
  if ("error" in compiled) throw new CelError(compiled.error);
  return compiled.find(text, limit);
}

function positionIn(text: string, position: CelValue): number {
  const at = typeof position === "bigint" ? Number(position) : -1;
  if (at < 0 || at > [...text].length) throw new CelError(`index out of range: ${at}`);
  return at;
}

function onText(work: (text: string) => CelValue): CelFunction {
  return ([text], budget) => {
    if (typeof text !== "string") return undefined;
    budget.spendText(text.length);
    return work(text);
  };
}

function onTexts(work: (text: string, part: string) => CelValue): CelFunction {
  return ([text, part], budget) => {
    if (typeof text !== "string" || typeof part !== "string") return undefined;
    budget.spendText(text.length);
    return work(text, part);
  };
}
