import { k8s, type ObjectOf, resource } from "setpoint";
import { z } from "zod";
import { conditions, modelTls, texts } from "./parts.js";

export const PROVIDERS = [
  "Anthropic",
  "OpenAI",
  "AzureOpenAI",
  "Ollama",
  "Gemini",
  "GeminiVertexAI",
  "AnthropicVertexAI",
  "Bedrock",
  "SAPAICore",
  "Foundry",
] as const;
export type Provider = (typeof PROVIDERS)[number];

/** Numbers with a fraction are texts, as kagent has them. */
const fraction = z.string().optional();

const openAI = z
  .object({
    baseUrl: z.string().optional(),
    organization: z.string().optional(),
    temperature: fraction,
    maxTokens: z.int().min(1).optional(),
    maxCompletionTokens: z.int().min(1).optional(),
    topP: fraction,
    frequencyPenalty: fraction,
    presencePenalty: fraction,
    seed: z.int().optional(),
    n: z.int().optional(),
    timeout: z.int().optional(),
    reasoningEffort: z.enum(["none", "minimal", "low", "medium", "high", "xhigh"]).optional(),
    apiFormat: z.enum(["chatCompletions", "responses"]).default("chatCompletions"),
    tokenExchange: z
      .object({
        type: z.enum(["GDCHServiceAccount"]),
        gdchServiceAccount: z.object({ audience: z.string() }).optional(),
      })
      .optional(),
  })
  .meta(
    k8s.rules(
      k8s.rule(
        "!(has(self.maxTokens) && has(self.maxCompletionTokens))",
        "maxTokens and maxCompletionTokens are mutually exclusive",
      ),
    ),
  );

const foundry = z
  .object({
    endpoint: z.string().optional(),
    endpointFrom: z
      .object({ name: z.string().default(""), key: z.string(), optional: z.boolean().optional() })
      .meta(k8s.mapAtomic)
      .optional(),
    deployment: z.string(),
    apiVersion: z.string().default("2024-10-21"),
  })
  .meta(
    k8s.rules(
      k8s.rule(
        "!(has(self.endpoint) && size(self.endpoint) > 0 && has(self.endpointFrom))",
        "foundry.endpoint and foundry.endpointFrom are mutually exclusive",
      ),
      k8s.rule(
        "(has(self.endpoint) && size(self.endpoint) > 0) || has(self.endpointFrom)",
        "foundry.endpoint or foundry.endpointFrom is required",
      ),
    ),
  );

const vertexAI = {
  projectID: z.string(),
  location: z.string(),
  temperature: fraction,
  topP: fraction,
  topK: z.string().optional(),
  stopSequences: z.array(z.string()).optional(),
};

const BLOCKS = {
  openAI,
  anthropic: z.object({
    baseUrl: z.string().optional(),
    maxTokens: z.int().optional(),
    temperature: fraction,
    topP: fraction,
    topK: z.int().optional(),
  }),
  azureOpenAI: z.object({
    azureEndpoint: z.string(),
    apiVersion: z.string(),
    azureDeployment: z.string().optional(),
    azureAdToken: z.string().optional(),
    temperature: fraction,
    maxTokens: z.int().optional(),
    topP: fraction,
  }),
  ollama: z.object({ host: z.string().optional(), options: texts.optional() }),
  gemini: z.object({ maxOutputTokens: z.int().min(1).optional() }),
  geminiVertexAI: z.object({
    ...vertexAI,
    maxOutputTokens: z.int().min(1).optional(),
    candidateCount: z.int().optional(),
    responseMimeType: z.string().optional(),
  }),
  anthropicVertexAI: z.object({ ...vertexAI, maxTokens: z.int().optional() }),
  bedrock: z.object({
    region: z.string(),
    additionalModelRequestFields: z.unknown().optional(),
    promptCaching: z.boolean().default(false),
    cacheTTL: z.enum(["5m", "1h"]).default("5m"),
    guardrail: z
      .object({
        identifier: z.string().min(1).max(2048),
        version: z.string().min(1).max(8),
        trace: z.enum(["disabled", "enabled", "enabled_full"]).default("disabled"),
      })
      .optional(),
    readTimeout: z.int().min(1).optional(),
    connectTimeout: z.int().min(1).optional(),
  }),
  sapAICore: z.object({
    baseUrl: z.string(),
    authUrl: z.string().optional(),
    resourceGroup: z.string().default("default"),
  }),
  foundry,
};

/** The block that belongs to a provider. */
export const blockOf = (provider: Provider): keyof typeof BLOCKS =>
  Object.keys(BLOCKS).find((block) => block.toLowerCase() === provider.toLowerCase()) as keyof typeof BLOCKS;

const optionalBlocks = Object.fromEntries(Object.entries(BLOCKS).map(([name, block]) => [name, block.optional()])) as {
  [Name in keyof typeof BLOCKS]: z.ZodOptional<(typeof BLOCKS)[Name]>;
};

const spec = z
  .object({
    model: z.string(),
    provider: z.enum(PROVIDERS).default("OpenAI"),
    apiKeySecret: z.string().optional(),
    apiKeySecretKey: z.string().optional(),
    apiKeyPassthrough: z.boolean().optional(),
    defaultHeaders: texts.optional(),
    tls: modelTls.optional(),
    ...optionalBlocks,
  })
  .meta(
    k8s.rules(
      ...PROVIDERS.map((provider) => {
        const block = blockOf(provider);
        return k8s.rule(
          `!(has(self.${block}) && self.provider != '${provider}')`,
          `provider.${block} must be nil if the provider is not ${provider}`,
        );
      }),
      k8s.rule(
        "!(has(self.apiKeySecretKey) && !has(self.apiKeySecret))",
        "apiKeySecret must be set if apiKeySecretKey is set",
      ),
      k8s.rule(
        "!(has(self.apiKeySecret) && !has(self.apiKeySecretKey) && self.provider != 'Bedrock' && self.provider != 'SAPAICore')",
        "apiKeySecretKey must be set if apiKeySecret is set (except for Bedrock and SAPAICore providers)",
      ),
      k8s.rule(
        "!(has(self.apiKeyPassthrough) && self.apiKeyPassthrough && has(self.apiKeySecret) && size(self.apiKeySecret) > 0)",
        "apiKeyPassthrough and apiKeySecret are mutually exclusive",
      ),
      k8s.rule(
        "!(has(self.apiKeyPassthrough) && self.apiKeyPassthrough && (self.provider == 'Gemini' || self.provider == 'GeminiVertexAI' || self.provider == 'AnthropicVertexAI'))",
        "apiKeyPassthrough must be false if provider is Gemini;GeminiVertexAI;AnthropicVertexAI",
      ),
      k8s.rule(
        "!(has(self.openAI) && has(self.openAI.tokenExchange) && (!has(self.apiKeySecret) || size(self.apiKeySecret) == 0))",
        "openAI.tokenExchange requires apiKeySecret (the service account secret)",
      ),
      k8s.rule(
        "!(has(self.openAI) && has(self.openAI.tokenExchange) && has(self.apiKeyPassthrough) && self.apiKeyPassthrough)",
        "openAI.tokenExchange and apiKeyPassthrough are mutually exclusive",
      ),
      k8s.rule(
        "!(has(self.openAI) && has(self.openAI.tokenExchange) && self.openAI.tokenExchange.type == 'GDCHServiceAccount' && !has(self.openAI.tokenExchange.gdchServiceAccount))",
        "openAI.tokenExchange type GDCHServiceAccount requires openAI.tokenExchange.gdchServiceAccount",
      ),
    ),
  );

/** A model and how to reach it. */
export const ModelConfig = resource("kagent.dev/v1alpha2/ModelConfig", {
  spec,
  status: z.object({
    observedGeneration: z.int().optional(),
    conditions,
    secretHash: z.string().optional(),
    usedBy: z.int().min(0).default(0),
  }),
  shortNames: ["mc"],
  categories: ["kagent"],
  columns: { Provider: ".spec.provider", Model: ".spec.model", "Used By": ".status.usedBy" },
});
export type ModelConfig = ObjectOf<typeof ModelConfig>;
