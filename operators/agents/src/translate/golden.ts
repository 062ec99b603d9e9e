import type { KubeObject } from "setpoint";
import { kindId } from "setpoint/kinds";
import { parse, type ScalarTag } from "yaml";
import { invalidSpec } from "../errors.js";
import type { Agent } from "../kinds/agent.js";
import type { Json } from "./go-json.js";
import { parseGoUrl } from "./go-url.js";
import type { Objects } from "./objects.js";
import { DEFAULT_SETTINGS, type TranslateSettings } from "./settings.js";
import { translateAgent } from "./translate.js";

/** The format of kagent's own translator test cases. */
interface TranslationCase {
  readonly operation?: string;
  readonly targetObject: string;
  readonly namespace: string;
  readonly proxyURL?: string;
  readonly defaultServiceAccountName?: string;
  readonly objects: readonly KubeObject[];
}

/** kagent's tests use these settings for every case. */
const CASE_SETTINGS: TranslateSettings = { ...DEFAULT_SETTINGS, imageTag: "dev", inheritAnnotations: true };

/** Single letters are strings, not booleans: OpenAI has a field `n`. */
const letter: ScalarTag = { tag: "tag:yaml.org,2002:str", default: true, test: /^[YyNn]$/, resolve: (text) => text };
/**
 * YAML as Kubernetes tools read it: version 1.1 (`0444` is octal, `yes` is true), except that timestamps, `1:30` and
 * single letters are strings.
 */
const DIALECT = {
  version: "1.1",
  merge: true,
  uniqueKeys: false,
  customTags: (tags: unknown[]) => [
    letter,
    ...(tags as ScalarTag[]).filter(({ tag, format }) => !tag.endsWith(":timestamp") && format !== "TIME"),
  ],
} as const;

/** Fields to drop at any depth because they differ in every run. */
const DROPPED = new Set(["id", "created_at", "updated_at", "uuid"]);

/** Translates a YAML case. Returns the result in the format of kagent's expected outputs. */
export async function translateCase(text: string, more: Partial<TranslateSettings> = {}): Promise<Json> {
  const given = read(text);
  if (!Array.isArray(given?.objects)) throw invalidSpec("objects: expected a list of Kubernetes objects");
  const agent = given.objects.find(
    ({ kind, metadata }) =>
      kind === "Agent" && metadata.name === given.targetObject && metadata.namespace === given.namespace,
  );
  if (!agent)
    throw invalidSpec(`targetObject: there is no Agent ${given.namespace}/${given.targetObject} among the objects`);
  const settings: TranslateSettings = {
    ...CASE_SETTINGS,
    ...more,
    ...(given.proxyURL ? { proxyUrl: given.proxyURL } : {}),
    ...(given.defaultServiceAccountName ? { serviceAccountName: given.defaultServiceAccountName } : {}),
  };
  const { agentCard, config, manifest } = await translateAgent(objectsOf(given), agent as Agent, settings);
  return normalised({ agentCard, config, manifest } as unknown as Json);
}

function read(text: string): TranslationCase {
  try {
    return parse(text, DIALECT) as TranslationCase;
  } catch (error) {
    throw invalidSpec((error as Error).message.trimEnd());
  }
}

/** The objects of a case, plus the namespaces that the objects are in or that their URLs name. */
function objectsOf({ objects, namespace: own }: TranslationCase): Objects {
  const idOf = (apiVersion: string, kind: string) =>
    `${apiVersion.startsWith("kagent.dev/") ? "kagent.dev" : apiVersion}/${kind}`;
  const namespaces = new Set([own]);
  for (const { kind, metadata, spec } of objects as readonly (KubeObject & { spec?: { url?: string } })[]) {
    namespaces.add((kind === "Namespace" ? metadata.name : metadata.namespace) ?? "");
    const host = kind === "RemoteMCPServer" ? parseGoUrl(spec?.url ?? "")?.hostname.split(".")[1] : undefined;
    if (host) namespaces.add(host);
  }
  return {
    async find(kind, name, namespace) {
      const [apiVersion, kindName] = splitId(kindId(kind));
      if (kindName === "Namespace") {
        return (
          namespaces.has(name) ? { apiVersion: "v1", kind: "Namespace", metadata: { name } } : undefined
        ) as never;
      }
      const wanted = idOf(apiVersion, kindName);
      return objects.find(
        (object) =>
          idOf(object.apiVersion, object.kind) === wanted &&
          object.metadata.name === name &&
          (object.metadata.namespace ?? "") === namespace,
      ) as never;
    },
  };
}

function splitId(id: string): readonly [string, string] {
  const slash = id.lastIndexOf("/");
  return [id.slice(0, slash), id.slice(slash + 1)];
}

/** Drops fields that differ in every run. Empty lists become null, as in kagent's expected outputs. */
function normalised(value: Json): Json {
  if (Array.isArray(value)) return value.length === 0 ? null : value.map(normalised);
  if (typeof value !== "object" || value === null) return value;
  const kept = Object.entries(value).filter(([key, field]) => field !== undefined && !DROPPED.has(key));
  return Object.fromEntries(kept.map(([key, field]) => [key, normalised(field!)]));
}
