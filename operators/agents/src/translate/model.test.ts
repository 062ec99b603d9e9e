import { describe, expect, it } from "vitest";
import { agent, configMap, model, secret, translated } from "./case.testing.js";

const KEY = { apiKeySecret: "s", apiKeySecretKey: "k" };
const fromSecret = (name: string, key: string) => ({ name, valueFrom: { secretKeyRef: { key, name: "s" } } });
const CREDS = { name: "google-creds", secret: { secretName: "s" } };

/** Provider, its part of the ModelConfig, the model in config.json as text, and its variables. */
const CASES: readonly (readonly [string, object, string, readonly object[]])[] = [
  [
    "OpenAI",
    {
      ...KEY,
      defaultHeaders: { b: "2", a: "1", "9": "", "10": "" },
      openAI: {
        baseUrl: "https://o",
        organization: "org",
        temperature: "0.7",
        maxTokens: 10,
        topP: "0.95",
        frequencyPenalty: "-0.5",
        presencePenalty: "not a number",
        seed: 0,
        n: 2,
        timeout: 30,
        reasoningEffort: "low",
        apiFormat: "responses",
      },
    },
    '{"type":"openai","model":"x","headers":{"10":"","9":"","a":"1","b":"2"},"base_url":"https://o","frequency_penalty":-0.5,"max_tokens":10,"n":2,"reasoning_effort":"low","seed":0,"temperature":0.7,"timeout":30,"top_p":0.95,"api_format":"responses"}',
    [fromSecret("OPENAI_API_KEY", "k"), { name: "OPENAI_ORGANIZATION", value: "org" }],
  ],
  [
    "OpenAI",
    { openAI: { maxCompletionTokens: 7 } },
    '{"type":"openai","model":"x","base_url":"","max_completion_tokens":7}',
    [{ name: "KAGENT_NAMESPACE" }],
  ],
  ["OpenAI", {}, '{"type":"openai","model":"x","base_url":""}', [{ name: "KAGENT_NAMESPACE" }]],
  [
    "OpenAI",
    { ...KEY, openAI: { tokenExchange: { type: "GDCHServiceAccount", gdchServiceAccount: { audience: "aud" } } } },
    '{"type":"openai","model":"x","base_url":"","token_exchange":{"type":"GDCHServiceAccount","gdch_service_account":{"service_account_path":"/gdch-creds/k","audience":"aud"}}}',
    [{ name: "KAGENT_NAMESPACE" }],
  ],
  [
    "Anthropic",
    { ...KEY, anthropic: { baseUrl: "https://a", maxTokens: 5, temperature: "1", topP: "0.1", topK: 3 } },
    '{"type":"anthropic","model":"x","base_url":"https://a","max_tokens":5,"temperature":1,"top_p":0.1,"top_k":3}',
    [fromSecret("ANTHROPIC_API_KEY", "k")],
  ],
  ["Anthropic", KEY, '{"type":"anthropic","model":"x"}', [fromSecret("ANTHROPIC_API_KEY", "k")]],
  [
    "AzureOpenAI",
    {
      ...KEY,
      azureOpenAI: {
        azureEndpoint: "https://e",
        apiVersion: "v",
        azureDeployment: "d",
        azureAdToken: "t",
        maxTokens: 4,
        temperature: "0.2",
        topP: "0.3",
      },
    },
    '{"type":"azure_openai","model":"d","endpoint":"https://e","deployment":"d","api_version":"v","max_tokens":4,"temperature":0.2,"top_p":0.3}',
    [
      fromSecret("AZURE_OPENAI_API_KEY", "k"),
      { name: "AZURE_AD_TOKEN", value: "t" },
      { name: "OPENAI_API_VERSION", value: "v" },
      { name: "AZURE_OPENAI_ENDPOINT", value: "https://e" },
    ],
  ],
  [
    "Gemini",
    { ...KEY, gemini: { maxOutputTokens: 5 } },
    '{"type":"gemini","model":"x","max_output_tokens":5}',
    [fromSecret("GOOGLE_API_KEY", "k")],
  ],
  ["Gemini", KEY, '{"type":"gemini","model":"x"}', [fromSecret("GOOGLE_API_KEY", "k")]],
  [
    "GeminiVertexAI",
    { ...KEY, geminiVertexAI: { projectID: "p", location: "l", maxOutputTokens: 6, temperature: "0.1" } },
    '{"type":"gemini_vertex_ai","model":"x","max_output_tokens":6}',
    [
      { name: "GOOGLE_CLOUD_PROJECT", value: "p" },
      { name: "GOOGLE_CLOUD_LOCATION", value: "l" },
      { name: "GOOGLE_GENAI_USE_VERTEXAI", value: "true" },
      { name: "GOOGLE_APPLICATION_CREDENTIALS", value: "/creds/k" },
    ],
  ],
  [
    "AnthropicVertexAI",
    { ...KEY, anthropicVertexAI: { projectID: "p", location: "l" } },
    '{"type":"gemini_anthropic","model":"x"}',
    [
      { name: "GOOGLE_CLOUD_PROJECT", value: "p" },
      { name: "GOOGLE_CLOUD_LOCATION", value: "l" },
      { name: "GOOGLE_APPLICATION_CREDENTIALS", value: "/creds/k" },
    ],
  ],
  [
    "Ollama",
    { ollama: { host: "ollama.ns:11434", options: { z: "1", a: "2" } } },
    '{"type":"ollama","model":"x","options":{"a":"2","z":"1"}}',
    [{ name: "OLLAMA_API_BASE", value: "http://ollama.ns:11434" }],
  ],
  [
    "Ollama",
    { ollama: { host: "https://o" } },
    '{"type":"ollama","model":"x"}',
    [{ name: "OLLAMA_API_BASE", value: "https://o" }],
  ],
  [
    "Bedrock",
    {
      apiKeySecret: "s",
      bedrock: {
        region: "r",
        additionalModelRequestFields: { b: 1.5, a: { d: true, c: ["x"] } },
        promptCaching: true,
        cacheTTL: "1h",
        guardrail: { identifier: "i", version: "1", trace: "enabled" },
        readTimeout: 9,
        connectTimeout: 8,
      },
    },
    '{"type":"bedrock","model":"x","region":"r","additional_model_request_fields":{"a":{"c":["x"],"d":true},"b":1.5},"prompt_caching":true,"cache_ttl":"1h","guardrail":{"identifier":"i","version":"1","trace":"enabled"},"read_timeout":9,"connect_timeout":8}',
    [
      { name: "AWS_REGION", value: "r" },
      fromSecret("AWS_ACCESS_KEY_ID", "AWS_ACCESS_KEY_ID"),
      fromSecret("AWS_SECRET_ACCESS_KEY", "AWS_SECRET_ACCESS_KEY"),
      { name: "KAGENT_NAMESPACE" },
    ],
  ],
  [
    "Bedrock",
    { bedrock: { region: "r", additionalModelRequestFields: { "9": { "2": 0, "10": 0 }, "10": 1, "-": 2 } } },
    '{"type":"bedrock","model":"x","region":"r","additional_model_request_fields":{"-":2,"10":1,"9":{"10":0,"2":0}}}',
    [{ name: "AWS_REGION", value: "r" }],
  ],
  [
    "Bedrock",
    { bedrock: { region: "r" } },
    '{"type":"bedrock","model":"x","region":"r"}',
    [{ name: "AWS_REGION", value: "r" }, { name: "KAGENT_NAMESPACE" }],
  ],
  [
    "SAPAICore",
    { apiKeySecret: "s", sapAICore: { baseUrl: "b", resourceGroup: "g", authUrl: "u" } },
    '{"type":"sap_ai_core","model":"x","base_url":"b","resource_group":"g","auth_url":"u"}',
    [
      fromSecret("SAP_AI_CORE_CLIENT_ID", "client_id"),
      fromSecret("SAP_AI_CORE_CLIENT_SECRET", "client_secret"),
      { name: "KAGENT_NAMESPACE" },
    ],
  ],
  [
    "Foundry",
    { ...KEY, foundry: { deployment: "d", apiVersion: "v", endpointFrom: { name: "c", key: "e" } } },
    '{"type":"foundry","model":"x","endpoint":"https://f","deployment":"d","api_version":"v"}',
    [
      fromSecret("FOUNDRY_API_KEY", "k"),
      { name: "FOUNDRY_ENDPOINT", value: "https://f" },
      { name: "FOUNDRY_DEPLOYMENT", value: "d" },
      { name: "FOUNDRY_API_VERSION", value: "v" },
    ],
  ],
];

describe("models", () => {
  const around = [secret({ k: "v" }), configMap({ e: "https://f" })];

  it.each(CASES)("%s %j", async (provider, spec, text, variables) => {
    const runtime = provider === "Foundry" ? "go" : "python";
    const found = await translated([...around, model({ provider, ...spec }), agent({ runtime })]);
    expect(found.text).toContain(`{"model":${text},"description":`);
    expect(found.container.env.slice(0, variables.length)).toMatchObject(variables);
  });

  it("Bedrock prefers a bearer token to other keys, and uses a session token if there is one", async () => {
    const bedrock = model({ provider: "Bedrock", apiKeySecret: "s", bedrock: { region: "r" } });
    const names = async (...keys: readonly string[]) =>
      (await translated([secret(Object.fromEntries(keys.map((key) => [key, "v"]))), bedrock, agent()])).container.env
        .map(({ name }) => name)
        .filter((name) => name.startsWith("AWS_") && name !== "AWS_REGION");
    const pair = ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"];
    expect(await names("AWS_BEARER_TOKEN_BEDROCK", ...pair)).toEqual(["AWS_BEARER_TOKEN_BEDROCK"]);
    expect(await names(...pair, "AWS_SESSION_TOKEN")).toEqual([...pair, "AWS_SESSION_TOKEN"]);
    await expect(translated([bedrock, agent()])).rejects.toThrow("Secret ns/s not found");
  });

  it("credentials of Google and of a token exchange are mounted as files", async () => {
    const vertex = model({ provider: "GeminiVertexAI", ...KEY, geminiVertexAI: { projectID: "p", location: "l" } });
    const found = await translated([...around, vertex, agent()]);
    expect(found.pod.spec.volumes).toContainEqual(CREDS);
    expect(found.container.volumeMounts).toContainEqual({ mountPath: "/creds", name: "google-creds" });
    const exchange = { type: "GDCHServiceAccount", gdchServiceAccount: { audience: "a" } };
    const gdch = await translated([
      ...around,
      model({ provider: "OpenAI", ...KEY, openAI: { tokenExchange: exchange } }),
      agent(),
    ]);
    expect(gdch.pod.spec.volumes).toContainEqual({
      name: "gdch-creds",
      secret: { secretName: "s", defaultMode: 0o444 },
    });
    expect(gdch.container.volumeMounts).toContainEqual({
      mountPath: "/gdch-creds",
      name: "gdch-creds",
      readOnly: true,
    });
  });

  it.each(["OpenAI", "Anthropic", "AzureOpenAI", "Ollama", "Bedrock", "SAPAICore"])(
    "%s: with a key that callers provide there is no variable from a Secret",
    async (provider) => {
      const blocks = {
        azureOpenAI: { azureEndpoint: "e", apiVersion: "v", azureDeployment: "d" },
        ollama: { host: "h" },
        bedrock: { region: "r" },
        sapAICore: { baseUrl: "b" },
      };
      const found = await translated([model({ provider, apiKeyPassthrough: true, ...blocks }), agent()]);
      expect(found.config.model).toMatchObject({ api_key_passthrough: true });
      expect(
        found.container.env.some(({ valueFrom }) => JSON.stringify(valueFrom ?? "").includes("secretKeyRef")),
      ).toBe(false);
    },
  );

  it.each([
    [{}, ""],
    [{ disableVerify: true }, '"tls_insecure_skip_verify":true,"tls_disable_system_cas":false,'],
    [
      { caCertSecretRef: "ca", caCertSecretKey: "ca.crt" },
      '"tls_insecure_skip_verify":false,"tls_ca_cert_path":"/etc/ssl/certs/custom/ca/ca.crt","tls_disable_system_cas":false,',
    ],
    [
      { caCertSecretRef: "ca", caCertSecretKey: "ca.crt", disableSystemCAs: true },
      '"tls_insecure_skip_verify":false,"tls_ca_cert_path":"/etc/ssl/certs/custom/ca/ca.crt","tls_disable_system_cas":true,',
    ],
  ])("tls %j", async (tls, text) => {
    const found = await translated([model({ provider: "OpenAI", tls }), agent()]);
    expect(found.text).toContain(`{"model":{"type":"openai","model":"x",${text}"base_url":""}`);
    const hasVolume = found.pod.spec.volumes.some(({ name }) => name === "tls-ca-ca");
    expect(hasVolume).toBe("caCertSecretRef" in tls);
  });

  it("the memory's model is configured as an embedding, with what its provider needs", async () => {
    const embedding = async (spec: object, runtime = "go") =>
      (await translated([model(), model(spec, "e"), agent({ runtime, memory: { modelConfig: "e" } })])).config.memory;
    expect(await embedding({ provider: "OpenAI", apiKeyPassthrough: true, openAI: { baseUrl: "b" } })).toEqual({
      embedding: { provider: "openai", model: "x", base_url: "b", api_key_passthrough: true },
    });
    expect(
      await embedding({
        provider: "AzureOpenAI",
        azureOpenAI: { azureEndpoint: "e", apiVersion: "v", azureDeployment: "d" },
      }),
    ).toEqual({
      embedding: { provider: "azure_openai", model: "d", endpoint: "e", deployment: "d", api_version: "v" },
    });
    const foundry = { provider: "Foundry", foundry: { endpoint: "e", deployment: "d", apiVersion: "v" } };
    expect(await embedding(foundry)).toMatchObject({ embedding: { provider: "foundry", endpoint: "e" } });
    await expect(embedding(foundry, "python")).rejects.toThrow('requires declarative runtime "go"');
  });

  it.each([
    [
      "Foundry",
      { foundry: { deployment: "d", endpointFrom: { name: "c", key: "no" } } },
      'ConfigMap ns/c has no key "no"',
    ],
    [
      "Foundry",
      { foundry: { deployment: "d", endpointFrom: { name: "c", key: "no", optional: true } } },
      "endpoint could not be resolved",
    ],
    ["Ollama", {}, "spec.ollama is required"],
    ["Unheard", {}, "unsupported model provider: Unheard"],
  ])("%s %j is refused", async (provider, spec, message) => {
    await expect(translated([...around, model({ provider, ...spec }), agent({ runtime: "go" })])).rejects.toThrow(
      message,
    );
  });

  it("the rollout hash combines hashes of Secrets: main, summarizer, memory, then tool servers", async () => {
    const hash = async (statuses: readonly string[]) => {
      const [main, summarizer, memory] = statuses.map((secretHash) => ({ secretHash }));
      const found = await translated([
        model(undefined, "m", main),
        model(undefined, "s", summarizer),
        model(undefined, "e", memory),
        agent({ memory: { modelConfig: "e" }, context: { compaction: { summarizer: { modelConfig: "s" } } } }),
      ]);
      const { stringData = {} } = found.manifest[0]!;
      return { annotation: found.pod.metadata.annotations["kagent.dev/config-hash"], stringData };
    };
    const { createHash } = await import("node:crypto");
    const { annotation, stringData } = await hash(["aa", "bb", "cc"]);
    const expected = createHash("sha256")
      .update(stringData["config.json"]!)
      .update(stringData["agent-card.json"]!)
      .update(Buffer.from("aabbcc", "hex"))
      .digest()
      .readBigUInt64BE(0);
    expect(annotation).toBe(String(expected));
  });
});
