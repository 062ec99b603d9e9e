import { readFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { SetpointError } from "../../errors/error.js";
import { describe } from "../transport/transport-error.js";
import { ConfigNode } from "./config-node.js";

/**
 * The merged entries of one or more files, as kubectl sees them. An entry is read only when a context uses it, so that
 * a broken entry does not affect the others.
 */
export interface Kubeconfig {
  /** The files that were read, in their order. */
  readonly files: readonly string[];
  /** Where `current-context` was found; its value is undefined if no file sets it. */
  readonly currentContext: ConfigNode;
  readonly clusters: ReadonlyMap<string, ConfigNode>;
  readonly users: ReadonlyMap<string, ConfigNode>;
  readonly contexts: ReadonlyMap<string, ConfigNode>;
}

export interface LoadKubeconfigOptions {
  /** Skips files that do not exist, as kubectl does for the files of `KUBECONFIG`. Defaults to false. */
  readonly skipMissing?: boolean;
}

/**
 * Reads and merges files by kubectl's rules: of entries with the same name the first wins as a whole; `current-context`
 * comes from the first file that sets it. Rejects with `KUBECONFIG_NOT_FOUND` or `KUBECONFIG_INVALID`.
 */
export async function loadKubeconfig(
  files: readonly string[],
  options: LoadKubeconfigOptions = {},
): Promise<Kubeconfig> {
  const documents: ConfigNode[] = [];
  for (const file of files) {
    const text = await readText(file, options.skipMissing ?? false);
    if (text !== undefined) documents.push(await parseKubeconfig(text, file));
  }
  if (documents.length === 0) {
    throw new SetpointError("KUBECONFIG_NOT_FOUND", `no kubeconfig at ${files.join(", ")}`);
  }
  return merge(documents);
}

async function readText(file: string, skipMissing: boolean): Promise<string | undefined> {
  try {
    return await readFile(file, "utf8");
  } catch (cause) {
    const isMissing = (cause as NodeJS.ErrnoException).code === "ENOENT";
    if (isMissing && skipMissing) return undefined;
    const code = isMissing ? "KUBECONFIG_NOT_FOUND" : "KUBECONFIG_INVALID";
    throw new SetpointError(code, `${file}: cannot be read: ${describe(cause)}`, { cause });
  }
}

/** The document of one file. `file` appears in messages, and relative paths are relative to it. */
async function parseKubeconfig(text: string, file: string): Promise<ConfigNode> {
  const document = new ConfigNode((await parseYaml(text, file)) ?? {}, file);
  const { apiVersion, kind } = document.record();
  if (kind !== undefined && kind !== "Config") throw document.field("kind").invalid(`must be Config, but is ${kind}`);
  if (apiVersion !== undefined && apiVersion !== "v1") {
    throw document.field("apiVersion").invalid(`must be v1, but is ${apiVersion}`);
  }
  return document;
}

async function parseYaml(text: string, file: string): Promise<unknown> {
  try {
    if (text.trimStart().startsWith("{")) return JSON.parse(text);
  } catch {
    // YAML's flow style starts with a brace, too.
  }
  const { parse } = await import("yaml");
  try {
    return parse(text);
  } catch (cause) {
    throw new SetpointError("KUBECONFIG_INVALID", `${file}: is not YAML: ${describe(cause)}`, { cause });
  }
}

function merge(documents: readonly ConfigNode[]): Kubeconfig {
  const contextFields = documents.map((document) => document.field("current-context"));
  return {
    files: documents.map((document) => document.file),
    currentContext: contextFields.find((field) => field.isPresent) ?? contextFields[0]!,
    clusters: entries(documents, "clusters", "cluster"),
    users: entries(documents, "users", "user"),
    contexts: entries(documents, "contexts", "context"),
  };
}

function entries(documents: readonly ConfigNode[], list: string, field: string): Map<string, ConfigNode> {
  const byName = new Map<string, ConfigNode>();
  for (const document of documents) {
    for (const item of document.list(list)) {
      const name = item.string("name");
      if (name === undefined) throw item.field("name").invalid("is missing");
      const value = item.field(field);
      const node = value.isPresent ? value : new ConfigNode({}, value.file, value.path);
      if (!byName.has(name)) byName.set(name, node);
    }
  }
  return byName;
}

/** An absolute path: relative ones in a kubeconfig are relative to its folder. */
export function resolvePath(node: ConfigNode, path: string): string {
  return resolve(dirname(node.file), path);
}
