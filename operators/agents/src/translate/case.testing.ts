import { stringify } from "yaml";
import { translateCase } from "./golden.js";
import type { TranslateSettings } from "./settings.js";

/** Cases beyond kagent's own files, in the same form: an Agent `ns/a` that uses the ModelConfig `m`. */

export const object = (kind: string, name: string, rest: object, metadata: object = {}, apiVersion = "v1") => ({
  apiVersion: ["Agent", "ModelConfig", "RemoteMCPServer"].includes(kind) ? "kagent.dev/v1alpha2" : apiVersion,
  kind,
  metadata: { name, namespace: "ns", ...metadata },
  ...rest,
});
export const model = (spec: object = { provider: "OpenAI" }, name = "m", status: object = {}) =>
  object("ModelConfig", name, { spec: { model: "x", ...spec }, status });
export const base64 = (text: string): string => Buffer.from(text).toString("base64");
export const secret = (data: Readonly<Record<string, string>>, name = "s") =>
  object("Secret", name, { data: Object.fromEntries(Object.entries(data).map(([key, text]) => [key, base64(text)])) });
export const configMap = (data: Readonly<Record<string, string>>, name = "c") => object("ConfigMap", name, { data });
export const remoteServer = (spec: object, metadata: object = {}, status: object = {}) =>
  object("RemoteMCPServer", "r", { spec: { description: "d", url: "https://x/mcp", ...spec }, status }, metadata);
export const mcpServer = (spec: object) => object("MCPServer", "k", { spec }, {}, "kagent.dev/v1alpha1");
export const agent = (declarative: object = {}, spec: object = {}, metadata: object = {}) =>
  object(
    "Agent",
    "a",
    { spec: { type: "Declarative", declarative: { systemMessage: "m", modelConfig: "m", ...declarative }, ...spec } },
    metadata,
  );
export const byoAgent = (deployment: object, spec: object = {}) =>
  object("Agent", "a", { spec: { type: "BYO", byo: { deployment }, ...spec } });
export const uses = (kind: string, name: string, more: object = {}, tool: object = {}) => ({
  type: "McpServer",
  mcpServer: { kind, name, ...more },
  ...tool,
});

type Fields = Readonly<Record<string, unknown>>;
export interface Container extends Fields {
  readonly name: string;
  readonly env: readonly { readonly name: string; readonly value?: string; readonly valueFrom?: object }[];
  readonly volumeMounts: readonly object[];
}
export interface Translated {
  readonly agentCard: Fields;
  readonly config: Fields;
  readonly manifest: readonly (Fields & {
    readonly kind?: string;
    readonly metadata: { readonly labels?: Fields; readonly annotations?: Fields };
    readonly stringData?: Readonly<Record<string, string>>;
    readonly data?: Readonly<Record<string, string>>;
  })[];
  /** The text of config.json. */
  readonly text: string;
  readonly pod: {
    readonly metadata: { readonly labels: Fields; readonly annotations: Readonly<Record<string, string>> };
    readonly spec: Fields & {
      readonly containers: readonly Container[];
      readonly initContainers?: readonly Container[];
      readonly volumes: readonly { readonly name: string }[];
    };
  };
  readonly container: Container;
}

export async function translated(
  objects: readonly object[],
  head: object = {},
  settings: Partial<TranslateSettings> = {},
): Promise<Translated> {
  const given = { operation: "translateAgent", targetObject: "a", namespace: "ns", ...head, objects };
  const text = stringify(given, { version: "1.1" });
  const found = (await translateCase(text, settings)) as unknown as Translated;
  const { template } = found.manifest.find(({ kind }) => kind === "Deployment")!.spec as {
    template: Translated["pod"];
  };
  const config = found.manifest[0]!.stringData!["config.json"]!;
  return { ...found, text: config, pod: template, container: template.spec.containers[0]! };
}
