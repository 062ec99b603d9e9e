import { Buffer } from "node:buffer";
import { ConfigMap, Secret } from "setpoint/kinds/v1";
import { invalidSpec, referenceMissing } from "../errors.js";
import { blockOf, ModelConfig, type Provider } from "../kinds/model-config.js";
import { goMap, goMaps, type Json, type JsonFields, nonEmpty, parseFraction } from "./go-json.js";
import { type Objects, required } from "./objects.js";
import {
  mountCa,
  noAdditions,
  type PodAdditions,
  secretVariable,
  secretVolume,
  tlsFields,
  variable,
} from "./pod-additions.js";

/** A ModelConfig in the form that agents read, and what it adds to their pod. */
export interface TranslatedModel {
  readonly provider: Provider;
  readonly fields: JsonFields;
  readonly additions: PodAdditions;
  /** Of the Secrets that it uses; part of the rollout hash. */
  readonly secretHash: Uint8Array;
}

const TYPES: Readonly<Record<Provider, string>> = {
  OpenAI: "openai",
  AzureOpenAI: "azure_openai",
  Anthropic: "anthropic",
  GeminiVertexAI: "gemini_vertex_ai",
  AnthropicVertexAI: "gemini_anthropic",
  Ollama: "ollama",
  Gemini: "gemini",
  Bedrock: "bedrock",
  SAPAICore: "sap_ai_core",
  Foundry: "foundry",
};
const KEY_VARIABLES: Partial<Record<Provider, string>> = {
  OpenAI: "OPENAI_API_KEY",
  Anthropic: "ANTHROPIC_API_KEY",
  AzureOpenAI: "AZURE_OPENAI_API_KEY",
  Gemini: "GOOGLE_API_KEY",
  Foundry: "FOUNDRY_API_KEY",
};
/** Providers that work without a block of their own. */
const BLOCK_IS_OPTIONAL: readonly Provider[] = ["OpenAI", "Anthropic", "Gemini"];
const GDCH_PATH = "/gdch-creds";

type Spec = ModelConfig["spec"];
interface Parts {
  readonly objects: Objects;
  readonly namespace: string;
  readonly spec: Spec;
  readonly additions: PodAdditions;
}

/** Throws for a provider's block that is missing, and where something that it refers to is not there. */
export async function translateModel(objects: Objects, namespace: string, name: string): Promise<TranslatedModel> {
  const { spec, status } = await required(objects, ModelConfig, name, namespace);
  const provider = spec.provider ?? ("" as Provider);
  const type = TYPES[provider];
  if (type === undefined) throw invalidSpec(`unsupported model provider: ${provider}`);
  const block = blockOf(provider);
  if (spec[block] === undefined && !BLOCK_IS_OPTIONAL.includes(provider)) {
    throw invalidSpec(`ModelConfig ${namespace}/${name}: spec.${block} is required for the provider ${provider}`);
  }
  const additions = noAdditions();
  mountCa(additions, spec.tls);
  const parts = { objects, namespace, spec, additions };
  const own = await PROVIDER_FIELDS[provider](parts);
  const hasPassthrough = provider !== "Gemini" && provider !== "Foundry";
  const fields: JsonFields = {
    type,
    model: provider === "AzureOpenAI" ? (spec.azureOpenAI!.azureDeployment ?? "") : (spec.model ?? ""),
    headers: nonEmpty(goMap(spec.defaultHeaders ?? {})),
    ...tlsFields(spec.tls),
    api_key_passthrough: (hasPassthrough && spec.apiKeyPassthrough) || undefined,
    ...own,
  };
  return { provider, fields, additions, secretHash: decodeHash(status?.secretHash) };
}

/** A hash in hexadecimal digits; one that cannot be read counts as none. */
export function decodeHash(hash: string | undefined): Uint8Array {
  return hash !== undefined && /^([0-9a-fA-F]{2})*$/.test(hash) ? Buffer.from(hash, "hex") : new Uint8Array();
}

const PROVIDER_FIELDS: Readonly<Record<Provider, (parts: Parts) => JsonFields | Promise<JsonFields>>> = {
  OpenAI(parts) {
    const { spec, additions } = parts;
    const { openAI = {} as Partial<NonNullable<Spec["openAI"]>> } = spec;
    const exchange = openAI.tokenExchange;
    if (!exchange) addKey(parts, "OpenAI");
    const token = exchange?.type === "GDCHServiceAccount" ? exchange.gdchServiceAccount : undefined;
    if (token) {
      additions.volumes.push(secretVolume("gdch-creds", spec.apiKeySecret ?? "", 0o444));
      additions.mounts.push({ mountPath: GDCH_PATH, name: "gdch-creds", readOnly: true });
    }
    if (openAI.organization) additions.env.push(variable("OPENAI_ORGANIZATION", openAI.organization));
    return {
      base_url: openAI.baseUrl ?? "",
      frequency_penalty: parseFraction(openAI.frequencyPenalty),
      max_tokens: openAI.maxTokens || undefined,
      max_completion_tokens: openAI.maxCompletionTokens || undefined,
      n: openAI.n,
      presence_penalty: parseFraction(openAI.presencePenalty),
      reasoning_effort: openAI.reasoningEffort,
      seed: openAI.seed,
      temperature: parseFraction(openAI.temperature),
      timeout: openAI.timeout,
      top_p: parseFraction(openAI.topP),
      api_format: nonEmpty(openAI.apiFormat),
      token_exchange: token && {
        type: exchange!.type,
        gdch_service_account: {
          service_account_path: `${GDCH_PATH}/${spec.apiKeySecretKey ?? ""}`,
          audience: token.audience,
        },
      },
    };
  },
  Anthropic(parts) {
    addKey(parts, "Anthropic");
    const { baseUrl, maxTokens, temperature, topP, topK } = parts.spec.anthropic ?? {};
    return {
      base_url: nonEmpty(baseUrl),
      max_tokens: maxTokens && maxTokens > 0 ? maxTokens : undefined,
      temperature: parseFraction(temperature),
      top_p: parseFraction(topP),
      top_k: topK && topK > 0 ? topK : undefined,
    };
  },
  AzureOpenAI(parts) {
    const { additions, spec } = parts;
    const azure = spec.azureOpenAI!;
    addKey(parts, "AzureOpenAI");
    if (azure.azureAdToken) additions.env.push(variable("AZURE_AD_TOKEN", azure.azureAdToken));
    if (azure.apiVersion) additions.env.push(variable("OPENAI_API_VERSION", azure.apiVersion));
    if (azure.azureEndpoint) additions.env.push(variable("AZURE_OPENAI_ENDPOINT", azure.azureEndpoint));
    return {
      endpoint: nonEmpty(azure.azureEndpoint),
      deployment: nonEmpty(azure.azureDeployment),
      api_version: nonEmpty(azure.apiVersion),
      max_tokens: azure.maxTokens,
      temperature: parseFraction(azure.temperature),
      top_p: parseFraction(azure.topP),
    };
  },
  GeminiVertexAI(parts) {
    const { projectID, location, maxOutputTokens } = parts.spec.geminiVertexAI!;
    addVertexAI(parts, projectID, location, true);
    return { max_output_tokens: maxOutputTokens || undefined };
  },
  AnthropicVertexAI(parts) {
    const { projectID, location } = parts.spec.anthropicVertexAI!;
    addVertexAI(parts, projectID, location, false);
    return {};
  },
  Ollama({ spec, additions }) {
    const { host = "", options = {} } = spec.ollama!;
    const base = /^https?:\/\//.test(host) ? host : `http://${host}`;
    additions.env.push(variable("OLLAMA_API_BASE", base));
    return { options: nonEmpty(goMap(options)) };
  },
  Gemini({ spec, additions }) {
    additions.env.push(secretVariable(KEY_VARIABLES.Gemini!, spec.apiKeySecret ?? "", spec.apiKeySecretKey ?? ""));
    return { max_output_tokens: spec.gemini?.maxOutputTokens || undefined };
  },
  async Bedrock({ objects, namespace, spec, additions }) {
    const bedrock = spec.bedrock!;
    additions.env.push(variable("AWS_REGION", bedrock.region));
    if (!spec.apiKeyPassthrough && spec.apiKeySecret) {
      const { data = {} } = await required(objects, Secret, spec.apiKeySecret, namespace);
      const keys = Object.hasOwn(data, "AWS_BEARER_TOKEN_BEDROCK")
        ? ["AWS_BEARER_TOKEN_BEDROCK"]
        : [
            "AWS_ACCESS_KEY_ID",
            "AWS_SECRET_ACCESS_KEY",
            ...(Object.hasOwn(data, "AWS_SESSION_TOKEN") ? ["AWS_SESSION_TOKEN"] : []),
          ];
      for (const key of keys) additions.env.push(secretVariable(key, spec.apiKeySecret, key));
    }
    const { guardrail } = bedrock;
    return {
      region: nonEmpty(bedrock.region),
      additional_model_request_fields: nonEmpty(goMaps((bedrock.additionalModelRequestFields ?? {}) as Json)),
      prompt_caching: bedrock.promptCaching || undefined,
      cache_ttl: nonEmpty(bedrock.cacheTTL),
      guardrail: guardrail && {
        identifier: guardrail.identifier,
        version: guardrail.version,
        trace: nonEmpty(guardrail.trace),
      },
      read_timeout: bedrock.readTimeout,
      connect_timeout: bedrock.connectTimeout,
    };
  },
  async SAPAICore({ objects, namespace, spec, additions }) {
    const { baseUrl, resourceGroup, authUrl } = spec.sapAICore!;
    if (!spec.apiKeyPassthrough && spec.apiKeySecret) {
      await required(objects, Secret, spec.apiKeySecret, namespace);
      additions.env.push(secretVariable("SAP_AI_CORE_CLIENT_ID", spec.apiKeySecret, "client_id"));
      additions.env.push(secretVariable("SAP_AI_CORE_CLIENT_SECRET", spec.apiKeySecret, "client_secret"));
    }
    return { base_url: baseUrl ?? "", resource_group: nonEmpty(resourceGroup), auth_url: nonEmpty(authUrl) };
  },
  async Foundry(parts) {
    const { spec, additions } = parts;
    const { deployment, apiVersion = "" } = spec.foundry!;
    const endpoint = await foundryEndpoint(parts);
    if (spec.apiKeySecret) addKey(parts, "Foundry");
    additions.env.push(variable("FOUNDRY_ENDPOINT", endpoint));
    additions.env.push(variable("FOUNDRY_DEPLOYMENT", deployment));
    additions.env.push(variable("FOUNDRY_API_VERSION", apiVersion));
    return { endpoint, deployment, api_version: apiVersion };
  },
};

function addKey({ spec, additions }: Parts, provider: Provider): void {
  if (spec.apiKeyPassthrough || !spec.apiKeySecret) return;
  additions.env.push(secretVariable(KEY_VARIABLES[provider]!, spec.apiKeySecret, spec.apiKeySecretKey ?? ""));
}

function addVertexAI({ spec, additions }: Parts, project: string, location: string, isGemini: boolean): void {
  additions.env.push(variable("GOOGLE_CLOUD_PROJECT", project), variable("GOOGLE_CLOUD_LOCATION", location));
  if (isGemini) additions.env.push(variable("GOOGLE_GENAI_USE_VERTEXAI", "true"));
  if (!spec.apiKeySecret) return;
  additions.env.push(variable("GOOGLE_APPLICATION_CREDENTIALS", `/creds/${spec.apiKeySecretKey ?? ""}`));
  additions.volumes.push(secretVolume("google-creds", spec.apiKeySecret));
  additions.mounts.push({ mountPath: "/creds", name: "google-creds" });
}

async function foundryEndpoint({ objects, namespace, spec }: Parts): Promise<string> {
  const { endpoint, endpointFrom } = spec.foundry!;
  if (endpoint) return endpoint;
  if (endpointFrom) {
    const { data = {} } = await required(objects, ConfigMap, endpointFrom.name, namespace);
    const value = data[endpointFrom.key];
    if (value) return value;
    const where = `ConfigMap ${namespace}/${endpointFrom.name}`;
    if (value === undefined && !endpointFrom.optional) {
      throw referenceMissing(`${where} has no key ${JSON.stringify(endpointFrom.key)}`);
    }
  }
  throw invalidSpec("foundry endpoint could not be resolved: set foundry.endpoint or foundry.endpointFrom");
}

/** What an agent's memory needs to know of its embedding model. */
export function embeddingFields({ provider, fields }: TranslatedModel): JsonFields {
  const has = (...providers: readonly Provider[]): boolean => providers.includes(provider);
  const text = (field: Json | undefined): Json | undefined => nonEmpty(field);
  return {
    provider: fields.type,
    model: fields.model,
    base_url: has("OpenAI", "Anthropic", "SAPAICore") ? text(fields.base_url) : undefined,
    api_key_passthrough: has("OpenAI", "AzureOpenAI", "Foundry") ? fields.api_key_passthrough : undefined,
    endpoint: has("AzureOpenAI", "Foundry") ? text(fields.endpoint) : undefined,
    deployment: has("AzureOpenAI", "Foundry") ? text(fields.deployment) : undefined,
    api_version: has("AzureOpenAI", "Foundry") ? text(fields.api_version) : undefined,
  };
}
