import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject } from "setpoint";
import { UsageError } from "setpoint/command";
import { parseAllDocuments, type ScalarTag } from "yaml";

/** An object as a file states it, and where. */
export interface Manifest {
  readonly object: JsonObject & { readonly metadata: JsonObject };
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly namespace: string | undefined;
  /** `shop.yaml, document 2`: for messages. */
  readonly place: string;
}

/**
 * The objects of files, folders (YAML and JSON files by name, not below) and, for `-`, the standard input; those within a
 * List one by one. Throws a `UsageError` that names file, document and line for what is no object.
 */
export async function readManifests(paths: readonly string[], stdin: () => Promise<string>): Promise<Manifest[]> {
  const manifests: Manifest[] = [];
  for (const path of paths) {
    if (path === "-") manifests.push(...parseManifests(await stdin(), "standard input"));
    else for (const file of filesOf(path)) manifests.push(...parseManifests(readFile(file), file));
  }
  if (manifests.length === 0) throw new UsageError(`${paths.join(", ")}: no objects found`);
  return manifests;
}

export function parseManifests(text: string, file: string): readonly Manifest[] {
  const documents = parseAllDocuments(text, { ...DIALECT, prettyErrors: true });
  const several = Array.isArray(documents) && documents.length > 1;
  return [...documents].flatMap((document, at) => {
    const place = several ? `${file}, document ${at + 1}` : file;
    const problem = document.errors[0];
    if (problem) throw new UsageError(`${place}: ${problem.message.trimEnd()}`);
    const value: unknown = document.toJS();
    return value === null || value === undefined ? [] : manifestsOf(value, place);
  });
}

/** YAML as Kubernetes' own tools read it: of version 1.1, but times and `1:30` are texts, and `0o17` is octal. */
const TIMESTAMP = "tag:yaml.org,2002:timestamp";
const octal: ScalarTag = {
  tag: "tag:yaml.org,2002:int",
  default: true,
  test: /^0o[0-7]+$/,
  resolve: (text) => Number.parseInt(text.slice(2), 8),
};
const DIALECT = {
  version: "1.1",
  merge: true,
  customTags: (tags: unknown[]) => [
    octal,
    ...(tags as ScalarTag[]).filter(({ tag, format }) => tag !== TIMESTAMP && format !== "TIME"),
  ],
} as const;

function manifestsOf(value: unknown, place: string): readonly Manifest[] {
  const object = record(value);
  if (!object) throw new UsageError(`${place}: expected an object with apiVersion and kind, found ${shown(value)}`);
  const { apiVersion, kind, items } = object;
  for (const [field, given] of Object.entries({ apiVersion, kind })) {
    if (typeof given !== "string" || given === "") throw new UsageError(`${place}: ${field} is missing`);
  }
  if (Array.isArray(items) && String(kind).endsWith("List")) {
    return items.flatMap((item, at) => manifestsOf(item, `${place}, item ${at + 1}`));
  }
  const metadata = record(object.metadata);
  const name = metadata?.name;
  if (typeof name !== "string" || name === "") throw new UsageError(`${place}: metadata.name is missing (${kind})`);
  const namespace = metadata!.namespace as string | undefined;
  return [
    {
      object: object as Manifest["object"],
      apiVersion: apiVersion as string,
      kind: kind as string,
      name,
      namespace,
      place,
    },
  ];
}

function record(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as never) : undefined;
}

function shown(value: unknown): string {
  return Array.isArray(value) ? "a list" : JSON.stringify(value).slice(0, 40);
}

function filesOf(path: string): readonly string[] {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (!stats) throw new UsageError(`${path}: no such file`);
  if (!stats.isDirectory()) return [path];
  const names = readdirSync(path).filter((name) => /\.(ya?ml|json)$/.test(name));
  if (names.length === 0) throw new UsageError(`${path}: the folder has no .yaml, .yml or .json files`);
  return names.sort().map((name) => join(path, name));
}

function readFile(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (cause) {
    throw new UsageError(`${path}: ${(cause as Error).message}`, { cause });
  }
}
