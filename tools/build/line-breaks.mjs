import { parseAst } from "rolldown/parseAst";

/**
 * Puts each statement and each class member on its own line, so that a stack trace of minified code names a position
 * and an uncaught error prints one statement, not the whole file. Escapes strings to ASCII: a single other character
 * doubles the memory that the engine needs for a file.
 */
export const lineBreaks = {
  name: "line-breaks",
  generateBundle(_options, bundle) {
    for (const chunk of Object.values(bundle)) if (chunk.type === "chunk") chunk.code = broken(ascii(chunk.code));
  },
};

function ascii(code) {
  return code.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

function broken(code) {
  const starts = [];
  collectStarts(parseAst(code), starts);
  starts.sort((left, right) => left - right);
  return starts.map((start, at) => code.slice(start, starts[at + 1])).join("\n");
}

/** Collects the start of each member of files, blocks, classes and switch cases. */
function collectStarts(node, starts) {
  if (node === null || typeof node !== "object") return;
  if (Array.isArray(node)) {
    for (const each of node) collectStarts(each, starts);
    return;
  }
  for (const list of [node.body, node.consequent]) {
    if (Array.isArray(list)) for (const { start } of list) starts.push(start);
  }
  for (const value of Object.values(node)) collectStarts(value, starts);
}
