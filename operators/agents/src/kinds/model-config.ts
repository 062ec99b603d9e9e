import { k8s, type ObjectOf, resource } from "setpoint";
import { z } from "zod";
import { conditions, modelTls, optional, rules, text, textList, texts } from "./parts.js";

export const PROVIDERS = [
  ...(["Anthropic", "OpenAI", "AzureOpenAI", "Ollama", "Gemini", "GeminiVertexAI", "AnthropicVertexAI"] as const),
  ...(["Bedrock", "SAPAICore", "Foundry"] as const),
] as const;
export type Provider = (typeof PROVIDERS)[number];

/** Fractions are strings, as in kagent. */
const fraction = text;
const positive = z.int().min(1);

const gdch = z.object({ audience: text });
const openAI = z
  .object({
    ...optional(text, "baseUrl", "organization"),
    ...optional(fraction, "temperature", "topP", "frequencyPenalty", "presencePenalty"),
    ...optional(positive, "maxTokens", "maxCompletionTokens"),
    ...optional(z.int(), "seed", "n", "timeout"),
    reasoningEffort: z.enum(["none", "minimal", "low", "medium", "high", "xhigh"]).optional(),
    apiFormat: z.enum(["chatCompletions", "responses"]).default("chatCompletions"),
    tokenExchange: z.object({ type: z.enum(["GDCHServiceAccount"]), gdchServiceAccount: gdch.optional() }).optional(),
  })
  .meta(
    rules({
      "!(has(self.maxTokens) && has(self.maxCompletionTokens))":
        "maxTokens and maxCompletionTokens are mutually exclusive",
    }),
  );

const mapKey = z.object({ name: text.default(""), key: text, optional: z.boolean().optional() }).meta(k8s.mapAtomic);
const foundry = z
  .object({
    endpoint: text.optional(),
    endpointFrom: mapKey.optional(),
    deployment: text,
    apiVersion: text.default("2024-10-21"),
  })
  .meta(
    rules({
      "!(has(self.endpoint) && size(self.endpoint) > 0 && has(self.endpointFrom))":
        "foundry.endpoint and foundry.endpointFrom are mutually exclusive",
      "(has(self.endpoint) && size(self.endpoint) > 0) || has(self.endpointFrom)":
        "foundry.endpoint or foundry.endpointFrom is required",
    }),
  );

const guardrail = z.object({
  identifier: text.min(1).max(2048),
  version: text.min(1).max(8),
  trace: z.enum(["disabled", "enabled", "enabled_full"]).default("disabled"),
});
const vertexAI = {
  projectID: text,
  location: text,
  ...optional(fraction, "temperature", "topP", "topK"),
  ...optional(textList, "stopSequences"),
};

const BLOCKS = {
  openAI,
  anthropic: z.object({
    ...optional(text, "baseUrl"),
    ...optional(fraction, "temperature", "topP"),
    ...optional(z.int(), "maxTokens", "topK"),
  }),
  azureOpenAI: z.object({
    azureEndpoint: text,
    apiVersion: text,
    ...optional(text, "azureDeployment", "azureAdToken"),
    ...optional(fraction, "temperature", "topP"),
    ...optional(z.int(), "maxTokens"),
  }),
  ollama: z.object({ host: text.optional(), options: texts.optional() }),
  gemini: z.object(optional(positive, "maxOutputTokens")),
  geminiVertexAI: z.object({
    ...vertexAI,
    ...optional(positive, "maxOutputTokens"),
    ...optional(z.int(), "candidateCount"),
    ...optional(text, "responseMimeType"),
  }),
  anthropicVertexAI: z.object({ ...vertexAI, ...optional(z.int(), "maxTokens") }),
  bedrock: z.object({
    region: text,
    additionalModelRequestFields: z.unknown().optional(),
    promptCaching: z.boolean().default(false),
    cacheTTL: z.enum(["5m", "1h"]).default("5m"),
    guardrail: guardrail.optional(),
    ...optional(positive, "readTimeout", "connectTimeout"),
  }),
  sapAICore: z.object({ baseUrl: text, authUrl: text.optional(), resourceGroup: text.default("default") }),
  foundry,
};

/** The spec field that holds the settings of a provider. */
export const blockOf = (provider: Provider): keyof typeof BLOCKS =>
  Object.keys(BLOCKS).find((block) => block.toLowerCase() === provider.toLowerCase()) as keyof typeof BLOCKS;

const optionalBlocks = Object.fromEntries(Object.entries(BLOCKS).map(([name, block]) => [name, block.optional()])) as {
  [Name in keyof typeof BLOCKS]: z.ZodOptional<(typeof BLOCKS)[Name]>;
};

const spec = z
  .object({
    model: text,
    provider: z.enum(PROVIDERS).default("OpenAI"),
    ...optional(text, "apiKeySecret", "apiKeySecretKey"),
    apiKeyPassthrough: z.boolean().optional(),
    defaultHeaders: texts.optional(),
    tls: modelTls.optional(),
    ...optionalBlocks,
  })
  .meta(
    rules({
      ...Object.fromEntries(
        PROVIDERS.map((provider) => [
          `!(has(self.${blockOf(provider)}) && self.provider != '${provider}')`,
          `provider.${blockOf(provider)} must be nil if the provider is not ${provider}`,
        ]),
      ),
      "!(has(self.apiKeySecretKey) && !has(self.apiKeySecret))": "apiKeySecret must be set if apiKeySecretKey is set",
      "!(has(self.apiKeySecret) && !has(self.apiKeySecretKey) && self.provider != 'Bedrock' && self.provider != 'SAPAICore')":
        "apiKeySecretKey must be set if apiKeySecret is set (except for Bedrock and SAPAICore providers)",
      "!(has(self.apiKeyPassthrough) && self.apiKeyPassthrough && has(self.apiKeySecret) && size(self.apiKeySecret) > 0)":
        "apiKeyPassthrough and apiKeySecret are mutually exclusive",
      "!(has(self.apiKeyPassthrough) && self.apiKeyPassthrough && (self.provider == 'Gemini' || self.provider == 'GeminiVertexAI' || self.provider == 'AnthropicVertexAI'))":
        "apiKeyPassthrough must be false if provider is Gemini;GeminiVertexAI;AnthropicVertexAI",
      "!(has(self.openAI) && has(self.openAI.tokenExchange) && (!has(self.apiKeySecret) || size(self.apiKeySecret) == 0))":
        "openAI.tokenExchange requires apiKeySecret (the service account secret)",
      "!(has(self.openAI) && has(self.openAI.tokenExchange) && has(self.apiKeyPassthrough) && self.apiKeyPassthrough)":
        "openAI.tokenExchange and apiKeyPassthrough are mutually exclusive",
      "!(has(self.openAI) && has(self.openAI.tokenExchange) && self.openAI.tokenExchange.type == 'GDCHServiceAccount' && !has(self.openAI.tokenExchange.gdchServiceAccount))":
        "openAI.tokenExchange type GDCHServiceAccount requires openAI.tokenExchange.gdchServiceAccount",
    }),
  );

/** A model and how to reach it. */
export const ModelConfig = resource("kagent.dev/v1alpha2/ModelConfig", {
  spec,
  status: z.object({
    observedGeneration: z.int().optional(),
    conditions,
    secretHash: text.optional(),
    usedBy: z.int().min(0).default(0),
  }),
  shortNames: ["mc"],
  categories: ["kagent"],
  columns: { Provider: ".spec.provider", Model: ".spec.model", "Used By": ".status.usedBy" },
});
export type ModelConfig = ObjectOf<typeof ModelConfig>;
