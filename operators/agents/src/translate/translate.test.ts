import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { stringify } from "yaml";
import { executeTemplate } from "./go-template.js";
import { translateCase } from "./golden.js";

/** Cases that kagent's own files do not have: what it does is told by its sources. */

const model = (spec: object, name = "m") => ({
  apiVersion: "kagent.dev/v1alpha2",
  kind: "ModelConfig",
  metadata: { name, namespace: "ns" },
  spec: { model: "x", ...spec },
});
const secret = (data: Record<string, string>) => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name: "s", namespace: "ns" },
  data,
});
const agent = (declarative: object, spec: object = {}) => ({
  apiVersion: "kagent.dev/v1alpha2",
  kind: "Agent",
  metadata: { name: "a", namespace: "ns" },
  spec: { type: "Declarative", declarative: { systemMessage: "m", modelConfig: "m", ...declarative }, ...spec },
});

interface Translated {
  readonly config: Record<string, unknown>;
  readonly manifest: readonly {
    readonly kind?: string;
    readonly stringData?: Record<string, string>;
    readonly spec?: unknown;
    readonly data?: Record<string, string>;
  }[];
}
const translate = async (...objects: readonly object[]): Promise<Translated> =>
  (await translateCase(
    stringify({ operation: "translateAgent", targetObject: "a", namespace: "ns", objects }),
  )) as unknown as Translated;
const podOf = ({ manifest }: Translated) =>
  (
    manifest.find(({ kind }) => kind === "Deployment")!.spec as {
      template: { spec: Record<string, unknown>; metadata: { annotations: Record<string, string> } };
    }
  ).template;
const envOf = (translated: Translated) =>
  (podOf(translated).spec.containers as readonly { env: readonly { name: string; value?: string }[] }[])[0]!.env;

describe("providers", () => {
  it.each([
    [
      "AzureOpenAI",
      { azureOpenAI: { azureEndpoint: "https://e", apiVersion: "v", azureDeployment: "d", azureAdToken: "t" } },
      { type: "azure_openai", model: "d", endpoint: "https://e", deployment: "d", api_version: "v" },
      ["AZURE_AD_TOKEN", "OPENAI_API_VERSION", "AZURE_OPENAI_ENDPOINT"],
    ],
    [
      "Gemini",
      { apiKeySecret: "s", apiKeySecretKey: "k", gemini: { maxOutputTokens: 5 } },
      { type: "gemini", model: "x", max_output_tokens: 5 },
      ["GOOGLE_API_KEY"],
    ],
    [
      "GeminiVertexAI",
      { apiKeySecret: "s", apiKeySecretKey: "k", geminiVertexAI: { projectID: "p", location: "l" } },
      { type: "gemini_vertex_ai", model: "x" },
      ["GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION", "GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_APPLICATION_CREDENTIALS"],
    ],
    [
      "AnthropicVertexAI",
      { anthropicVertexAI: { projectID: "p", location: "l" } },
      { type: "gemini_anthropic", model: "x" },
      ["GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION"],
    ],
    [
      "SAPAICore",
      { apiKeySecret: "s", sapAICore: { baseUrl: "b", authUrl: "u" } },
      { type: "sap_ai_core", model: "x", base_url: "b", auth_url: "u" },
      ["SAP_AI_CORE_CLIENT_ID", "SAP_AI_CORE_CLIENT_SECRET"],
    ],
    [
      "Bedrock",
      { apiKeySecret: "s", bedrock: { region: "r", additionalModelRequestFields: { b: 1, a: { d: 1, c: 2 } } } },
      { type: "bedrock", model: "x", region: "r", additional_model_request_fields: { a: { c: 2, d: 1 }, b: 1 } },
      ["AWS_REGION", "AWS_BEARER_TOKEN_BEDROCK"],
    ],
  ])("%s", async (provider, spec, fields, variables) => {
    const translated = await translate(
      secret({ AWS_BEARER_TOKEN_BEDROCK: "eA==" }),
      model({ provider, ...spec }),
      agent({}),
    );
    expect(translated.config.model).toEqual(fields);
    expect(
      envOf(translated)
        .map(({ name }) => name)
        .slice(0, variables.length),
    ).toEqual(variables);
  });

  it("Foundry takes its endpoint from a ConfigMap, and the Go runtime alone", async () => {
    const map = {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "c", namespace: "ns" },
      data: { e: "https://f" },
    };
    const foundry = model({
      provider: "Foundry",
      foundry: { deployment: "d", apiVersion: "v", endpointFrom: { name: "c", key: "e" } },
    });
    expect((await translate(map, foundry, agent({ runtime: "go" }))).config.model).toEqual({
      type: "foundry",
      model: "x",
      endpoint: "https://f",
      deployment: "d",
      api_version: "v",
    });
    await expect(translate(map, foundry, agent({}))).rejects.toThrow('requires declarative runtime "go"');
  });

  it("a key that callers bring along leaves no variable", async () => {
    const translated = await translate(model({ provider: "OpenAI", apiKeyPassthrough: true }), agent({}));
    expect(translated.config.model).toMatchObject({ api_key_passthrough: true });
    expect(envOf(translated)[0]?.name).toBe("KAGENT_NAMESPACE");
  });
});

describe("agents", () => {
  const openAI = model({ provider: "OpenAI" });

  it("the Go runtime has its image, probe and metrics", async () => {
    const pod = podOf(await translate(openAI, agent({ runtime: "go" })));
    expect((pod.spec.containers as readonly object[])[0]).toMatchObject({
      image: "ghcr.io/kagent-dev/kagent/golang-adk:dev",
      readinessProbe: { periodSeconds: 1 },
    });
    expect(pod.metadata.annotations["prometheus.io/scrape"]).toBe("true");
  });

  it("an image of one's own has a configuration without a model, and an A2A port", async () => {
    const spec = {
      type: "BYO",
      declarative: undefined,
      description: "mine",
      byo: { deployment: { image: "me:1", cmd: "run", args: ["x"] } },
    };
    const { manifest } = await translate(agent({}, JSON.parse(JSON.stringify(spec))));
    expect(manifest[0]?.stringData?.["config.json"]).toBe('{"model":null,"description":"mine","instruction":""}');
    expect(manifest.at(-1)?.spec).toMatchObject({ ports: [{ appProtocol: "kgateway.dev/a2a" }] });
  });

  it("a server with SSE stands apart, and a summarizer and a memory bring their models", async () => {
    const server = {
      apiVersion: "kagent.dev/v1alpha2",
      kind: "RemoteMCPServer",
      metadata: { name: "r", namespace: "ns" },
      spec: {
        description: "d",
        url: "https://x/sse",
        protocol: "SSE",
        sseReadTimeout: "1m30s",
        tls: { caCertSecretRef: "ca.one", caCertSecretKey: "ca.crt" },
      },
    };
    const { config, manifest } = await translate(
      openAI,
      model({ provider: "Ollama", ollama: { host: "o" } }, "e"),
      server,
      agent({
        memory: { modelConfig: "e", ttlDays: 3 },
        context: { compaction: { compactionInterval: 4, summarizer: { modelConfig: "e" } } },
        tools: [{ type: "McpServer", mcpServer: { name: "r", kind: "RemoteMCPServer" } }],
      }),
    );
    expect(config.sse_tools).toMatchObject([
      {
        params: {
          url: "https://x/sse",
          sse_read_timeout: 90,
          tls_insecure_skip_verify: false,
          tls_ca_cert_path: `/etc/ssl/certs/custom/${sha8("ca.one")}/ca.crt`,
        },
      },
    ]);
    expect(config.memory).toEqual({ ttl_days: 3, embedding: { provider: "ollama", model: "x" } });
    expect(config.context_config).toMatchObject({
      compaction: { compaction_interval: 4, summarizer_model: { type: "ollama" } },
    });
    expect(manifest[0]?.stringData?.["config.json"]).toMatch(
      /^\{"model":.*"sse_tools":.*"stream":false,"memory":.*"context_config":/,
    );
  });

  it("skills of git, S3 and registries are fetched by one container", async () => {
    const skills = {
      refs: ["ghcr.io/o/r@sha256:abc"],
      gitRefs: [{ url: "git@github.com:o/p.git", ref: "a".repeat(40), path: "sub/q/" }],
      s3Refs: [{ uri: "s3://b/k/z.tar.gz", region: "eu" }],
      gitAuthSecretRef: { name: "g" },
    };
    const { manifest } = await translate(openAI, agent({}, { skills }));
    const map = manifest.find(({ kind }) => kind === undefined);
    expect(map?.data?.["config.json"]).toBe(
      `{"authMountPath":"/git-auth","gitRefs":[{"url":"git@github.com:o/p.git","ref":"${"a".repeat(40)}","dest":"/skills/q","full":true,"subPath":"sub/q"}],"ociRefs":[{"image":"ghcr.io/o/r@sha256:abc","dest":"/skills/r"}],"sshHosts":[{"host":"github.com"}],"s3Refs":[{"uri":"s3://b/k/z.tar.gz","dest":"/skills/z","region":"eu"}]}`,
    );
  });

  it("texts are escaped as Go escapes them", async () => {
    const { manifest } = await translate(openAI, agent({ systemMessage: "a < b && c > d\u2028" }));
    expect(manifest[0]?.stringData?.["config.json"]).toContain('"a \\u003c b \\u0026\\u0026 c \\u003e d\\u2028"');
  });
});

describe("templates of system messages", () => {
  const run = (source: string) =>
    executeTemplate(source, { Name: "n", List: ["a", "b"], Empty: [] }, { include: (path) => `<${path}>` });
  it.each([
    ["{{.Name}} {{- /* gone */ -}} !", "n!"],
    ["{{range $i, $e := .List}}{{if $i}}, {{end}}{{$e}}{{end}}", "a, b"],
    ["{{range .Empty}}x{{else}}none{{end}}", "none"],
    ["{{with .List}}{{len .}}{{end}}", "2"],
    ['{{if eq .Name "n"}}yes{{else if .Empty}}no{{else}}other{{end}}', "yes"],
    ['{{include "a/b" | printf "%s-%d" "x" 1 }}', "x-1"],
    ['{{include (printf "%s/%s" .Name "k")}}', "<n/k>"],
    ["{{index .List 1}} {{.List}}", "b [a b]"],
    ["{{$x := .Name}}{{$x}}{{$.Name}}", "nn"],
  ])("%s", (source, expected) => expect(run(source)).toBe(expected));

  it.each([
    ["{{.Missing}}", "can't evaluate field Missing"],
    ["{{if .Name}}", "has no {{end}}"],
    ["{{nope}}", 'function "nope" not defined'],
    ["{{", "unclosed action"],
  ])("%s is refused", (source, message) => {
    expect(() => run(source)).toThrow(message);
  });
});

function sha8(text: string): string {
  // As the pod's volume is named where a Secret's name cannot be part of it.
  return createHash("sha256").update(text).digest("hex").slice(0, 8);
}
