import type { Alias, Pair, ParsedNode, Scalar, Tags, YAMLMap, YAMLSeq } from "yaml";
import { BoundedTexts } from "../../api/error-budget.js";
import { goQuote } from "../../api/go-format.js";
import { yaml } from "../../api/yaml.js";
import { isTooDeepYaml, MAX_YAML_DEPTH } from "./yaml-depth.js";

/** A YAML text as JSON, or why it is invalid. */
export type YamlReading =
  | {
      readonly type: "read";
      readonly json: string;
      /** One message per duplicate key, up to the limit of a response. */
      readonly duplicates: readonly string[];
    }
  | { readonly type: "refused"; readonly why: string };

/** Size limit of the resulting JSON. Only aliases can expand three megabytes beyond it. */
const MAX_EXPANDED = 24 * 1024 * 1024;
const EXCESSIVE = "yaml: document contains excessive aliasing";

class Refusal extends Error {}

/** Reads one document as the real server's decoder does. Linear in the length of the text. */
export function readYamlText(text: string): YamlReading {
  if (isTooDeepYaml(text)) return { type: "refused", why: `yaml: exceeded max depth of ${MAX_YAML_DEPTH}` };
  const { LineCounter, parseDocument } = yaml();
  const lines = new LineCounter();
  const document = parseDocument(text, {
    lineCounter: lines,
    // Rendering the source line for each error would be quadratic in the line length.
    prettyErrors: false,
    uniqueKeys: false,
    version: "1.1",
    merge: true,
    customTags: goTags,
  });
  const [problem] = document.errors;
  if (problem !== undefined) {
    const why = `yaml: line ${lines.linePos(problem.pos[0]).line || 1}: ${yamlProblem(problem.message, text)}`;
    return { type: "refused", why };
  }
  try {
    const writer = new JsonWriter((offset) => lines.linePos(offset).line);
    const { json } = writer.write(document.contents as ParsedNode | null);
    return { type: "read", json, duplicates: writer.duplicates.texts };
  } catch (error) {
    if (error instanceof Refusal) return { type: "refused", why: error.message };
    throw error;
  }
}

/** A YAML node as JSON. */
interface Written {
  readonly json: string;
  /** Number of nodes read for it. Nodes behind an alias count at each use. */
  readonly nodes: number;
  /** The JSON of each value, if the node is a map. A merge key may copy them into another map. */
  readonly entries?: ReadonlyMap<string, string>;
}

/**
 * Writes nodes as JSON. An anchored node is written once, and all aliases share its text. The writer counts the
 * expanded size as the real server's decoder does, and rejects what that decoder rejects.
 */
class JsonWriter {
  readonly duplicates = new BoundedTexts();
  readonly #lineOf: (offset: number) => number;
  readonly #anchors = new Map<string, Written | undefined>();
  #nodes = 0;
  #ofAliases = 0;

  constructor(lineOf: (offset: number) => number) {
    this.#lineOf = lineOf;
  }

  write(node: ParsedNode | null | undefined): Written {
    if (node === null || node === undefined) return this.#counted("null");
    const { isAlias, isMap, isSeq } = yaml();
    if (isAlias(node)) return this.#alias(node);
    const { anchor } = node as Scalar;
    // Register the anchor before writing its node, to detect a node that contains itself.
    if (anchor !== undefined) this.#anchors.set(anchor, undefined);
    const written = isMap(node) ? this.#map(node) : isSeq(node) ? this.#list(node) : this.#counted(scalarJson(node));
    if (anchor !== undefined) this.#anchors.set(anchor, written);
    return written;
  }

  #counted(json: string): Written {
    this.#nodes++;
    return { json, nodes: 1 };
  }

  #alias({ source }: Alias): Written {
    if (!this.#anchors.has(source)) throw new Refusal(`yaml: unknown anchor '${source}' referenced`);
    const target = this.#anchors.get(source);
    if (target === undefined) throw new Refusal(`yaml: anchor '${source}' value contains itself`);
    this.#nodes += 1 + target.nodes;
    this.#ofAliases += target.nodes;
    if (isExcessive(this.#ofAliases, this.#nodes)) throw new Refusal(EXCESSIVE);
    return { ...target, nodes: 1 + target.nodes };
  }

  #list({ items }: YAMLSeq): Written {
    const before = this.#nodes++;
    let json = "[";
    for (const item of items) {
      const { isPair } = yaml();
      const text = isPair(item) ? this.#pair(item as Pair) : this.write(item as ParsedNode).json;
      json += json.length === 1 ? text : `,${text}`;
      checkLength(json);
    }
    return { json: `${json}]`, nodes: this.#nodes - before };
  }

  /** One item of an ordered map. */
  #pair({ key, value }: Pair): string {
    return `{${JSON.stringify(this.#key(key))}:${this.write(value as ParsedNode).json}}`;
  }

  #map({ items }: YAMLMap): Written {
    const before = this.#nodes++;
    const named = new Set<string>();
    const entries = new Map<string, string>();
    for (const pair of items) {
      if (isMerge(pair)) {
        this.#nodes++;
        for (const [name, json] of this.#merged(pair.value as ParsedNode))
          if (!entries.has(name)) entries.set(name, json);
        continue;
      }
      const key = this.#key(pair.key);
      if (named.has(key)) {
        const offset = (pair.key as ParsedNode | null)?.range?.[0] ?? 0;
        if (!this.duplicates.isFull) {
          this.duplicates.add(`line ${this.#lineOf(offset)}: key ${goQuote(key)} already set in map`);
        }
      }
      named.add(key);
      entries.set(key, this.write(pair.value as ParsedNode).json);
    }
    let json = "{";
    for (const [name, value] of entries) {
      json += `${json.length === 1 ? "" : ","}${JSON.stringify(name)}:${value}`;
      checkLength(json);
    }
    return { json: `${json}}`, nodes: this.#nodes - before, entries };
  }

  /** The entries to merge from a map or a list of maps. The first map that has a key wins. */
  #merged(node: ParsedNode): ReadonlyMap<string, string> {
    const { isSeq } = yaml();
    const sources = isSeq(node) ? node.items : [node];
    const merged = new Map<string, string>();
    for (const source of sources) {
      const { entries } = this.write(source as ParsedNode);
      if (entries === undefined) throw new Refusal("yaml: map merge requires map or sequence of maps as the value");
      for (const [name, json] of entries) if (!merged.has(name)) merged.set(name, json);
    }
    return merged;
  }

  #key(key: unknown): string {
    const { isAlias, isScalar } = yaml();
    const node = key as ParsedNode | null;
    if (node === null) return "";
    const written = this.write(node);
    if (!isScalar(node) && !isAlias(node)) throw new Refusal("yaml: invalid map key");
    const value = JSON.parse(written.json) as unknown;
    if (typeof value === "object" && value !== null) throw new Refusal("yaml: invalid map key");
    return value === null ? "" : String(value);
  }
}

function checkLength(json: string): void {
  if (json.length > MAX_EXPANDED) throw new Refusal(EXCESSIVE);
}

/** The YAML library attaches `addToJSMap` to a merge key (`<<`). */
function isMerge({ key }: Pair): boolean {
  return yaml().isScalar(key) && "addToJSMap" in key;
}

/** The limits of goyaml: aliases may make up most of a small document, but little of a large one. */
function isExcessive(ofAliases: number, nodes: number): boolean {
  const [few, many] = [400_000, 4_000_000];
  const share = nodes <= few ? 0.99 : nodes >= many ? 0.1 : 0.99 - 0.89 * ((nodes - few) / (many - few));
  return ofAliases > 100 && nodes > 1000 && ofAliases / nodes > share;
}

function scalarJson(node: unknown): string {
  const { value } = node as Scalar;
  if (value instanceof Uint8Array) return JSON.stringify(Buffer.from(value).toString());
  if (typeof value === "bigint") return String(value);
  return JSON.stringify(value ?? null) ?? "null";
}

/** Go's YAML is version 1.1 without times: `1:30` and `2026-01-01` are strings. */
function goTags(tags: Tags): Tags {
  return tags.filter((tag) => {
    if (typeof tag === "string") return tag !== "timestamp" && tag !== "intTime" && tag !== "floatTime";
    return tag.tag !== "tag:yaml.org,2002:timestamp" && !("format" in tag && tag.format === "TIME");
  });
}

/** Translates common parser errors into the wording of Go's parser; passes others through. */
function yamlProblem(message: string, text: string): string {
  if (/Flow .*end with a [}\]]/.test(message) && /[[{,:]\s*$/.test(text.slice(-1024))) {
    return "did not find expected node content";
  }
  if (/Flow map.*end with a }/.test(message)) return "did not find expected ',' or '}'";
  if (/Flow sequence.*end with a ]/.test(message)) return "did not find expected ',' or ']'";
  if (/tab/i.test(message)) return "found character that cannot start any token";
  return message.split("\n", 1)[0]!.replace(/ at line \d+.*$/, "");
}
