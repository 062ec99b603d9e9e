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

/** A ModelConfig in the agents' format, and its additions to the pod. */
export interface TranslatedModel {
  readonly provider: Provider;
  readonly fields: JsonFields;
  readonly additions: PodAdditions;
  /** A hash of the Secrets that the model uses. Part of the rollout hash. */
  readonly secretHash: Uint8Array;
}

type Spec = ModelConfig["spec"];
type Fields = Readonly<Record<string, Json | undefined>>;
interface Parts {
  readonly objects: Objects;
  readonly namespace: string;
  readonly spec: Spec;
  /** The provider's own block of the spec. */
  readonly block: Fields;
  readonly additions: PodAdditions;
}

interface ProviderRow {
  readonly type: string;
  /** The environment variable for the API key. */
  readonly key?: string;
  /** Environment variables as `VARIABLE=field`. A variable is set only if its field is. */
  readonly env?: string;
  /**
   * The configuration's fields in output order, by their names in the spec. `a!` is written even if empty, `a~` is a
   * fraction, `a+` is written only above zero, and `a=b` renames.
   */
  readonly fields: string;
  /** Logic that the table cannot express. Its fields come last and override earlier ones. */
  readonly more?: (parts: Parts) => JsonFields | Promise<JsonFields>;
}

const PROVIDER_ROWS: Readonly<Record<Provider, ProviderRow>> = {
  OpenAI: {
    type: "openai",
    env: "OPENAI_ORGANIZATION=organization",
    fields:
      "baseUrl! frequencyPenalty~ maxTokens+ maxCompletionTokens+ n presencePenalty~ reasoningEffort seed temperature~ timeout topP~ apiFormat",
    more: tokenExchange,
  },
  Anthropic: { type: "anthropic", key: "ANTHROPIC_API_KEY", fields: "baseUrl maxTokens+ temperature~ topP~ topK+" },
  AzureOpenAI: {
    type: "azure_openai",
    key: "AZURE_OPENAI_API_KEY",
    env: "AZURE_AD_TOKEN=azureAdToken OPENAI_API_VERSION=apiVersion AZURE_OPENAI_ENDPOINT=azureEndpoint",
    fields: "azureEndpoint=endpoint azureDeployment=deployment apiVersion maxTokens temperature~ topP~",
  },
  GeminiVertexAI: { type: "gemini_vertex_ai", fields: "maxOutputTokens+", more: (parts) => vertexAI(parts, true) },
  AnthropicVertexAI: { type: "gemini_anthropic", fields: "", more: (parts) => vertexAI(parts, false) },
  Ollama: {
    type: "ollama",
    fields: "options",
    more({ block, additions }) {
      const host = String(block.host ?? "");
      additions.env.push(variable("OLLAMA_API_BASE", /^https?:\/\//.test(host) ? host : `http://${host}`));
      return { options: nonEmpty(goMap((block.options ?? {}) as Record<string, string>)) };
    },
  },
  Gemini: {
    type: "gemini",
    fields: "maxOutputTokens+",
    more({ spec, additions }) {
      additions.env.push(secretVariable("GOOGLE_API_KEY", spec.apiKeySecret ?? "", spec.apiKeySecretKey ?? ""));
      return {};
    },
  },
  Bedrock: {
    type: "bedrock",
    fields: "region additionalModelRequestFields promptCaching+ cacheTTL guardrail readTimeout connectTimeout",
    more: bedrock,
  },
  SAPAICore: {
    type: "sap_ai_core",
    fields: "baseUrl! resourceGroup authUrl",
    async more({ objects, namespace, spec, additions }) {
      if (spec.apiKeyPassthrough || !spec.apiKeySecret) return {};
      await required(objects, Secret, spec.apiKeySecret, namespace);
      additions.env.push(secretVariable("SAP_AI_CORE_CLIENT_ID", spec.apiKeySecret, "client_id"));
      additions.env.push(secretVariable("SAP_AI_CORE_CLIENT_SECRET", spec.apiKeySecret, "client_secret"));
      return {};
    },
  },
  Foundry: {
    type: "foundry",
    key: "FOUNDRY_API_KEY",
    fields: "endpoint! deployment! apiVersion!",
    async more(parts) {
      const { block, additions } = parts;
      const endpoint = await foundryEndpoint(parts);
      additions.env.push(variable("FOUNDRY_ENDPOINT", endpoint));
      additions.env.push(variable("FOUNDRY_DEPLOYMENT", String(block.deployment)));
      additions.env.push(variable("FOUNDRY_API_VERSION", String(block.apiVersion ?? "")));
      return { endpoint };
    },
  },
};
/** Providers that work without their own block. */
const BLOCK_IS_OPTIONAL: readonly Provider[] = ["OpenAI", "Anthropic", "Gemini"];

/** Translates a ModelConfig. Throws if the provider's block or a referenced object is missing. */
export async function translateModel(objects: Objects, namespace: string, name: string): Promise<TranslatedModel> {
  const { spec, status } = await required(objects, ModelConfig, name, namespace);
  const provider = spec.provider ?? ("" as Provider);
  const row = PROVIDER_ROWS[provider];
  if (row === undefined) throw invalidSpec(`unsupported model provider: ${provider}`);
  const block = spec[blockOf(provider)] as Fields | undefined;
  if (block === undefined && !BLOCK_IS_OPTIONAL.includes(provider)) {
    const field = `spec.${blockOf(provider)}`;
    throw invalidSpec(`ModelConfig ${namespace}/${name}: ${field} is required for the provider ${provider}`);
  }
  const additions = noAdditions();
  mountCa(additions, spec.tls);
  const parts: Parts = { objects, namespace, spec, additions, block: block ?? {} };
  if (row.key) addKey(parts, row.key);
  const own = { ...tableFields(row.fields, parts.block), ...(await row.more?.(parts)) };
  for (const [name, field] of pairs(row.env)) {
    if (parts.block[field]) additions.env.push(variable(name, String(parts.block[field])));
  }
  const hasPassthrough = provider !== "Gemini" && provider !== "Foundry";
  const fields: JsonFields = {
    type: row.type,
    model: provider === "AzureOpenAI" ? (spec.azureOpenAI!.azureDeployment ?? "") : (spec.model ?? ""),
    headers: nonEmpty(goMap(spec.defaultHeaders ?? {})),
    ...tlsFields(spec.tls),
    api_key_passthrough: (hasPassthrough && spec.apiKeyPassthrough) || undefined,
    ...own,
  };
  return { provider, fields, additions, secretHash: decodeHash(status?.secretHash) };
}

/** Decodes a hexadecimal hash. An invalid hash counts as empty. */
export function decodeHash(hash: string | undefined): Uint8Array {
  return hash !== undefined && /^([0-9a-fA-F]{2})*$/.test(hash) ? Buffer.from(hash, "hex") : new Uint8Array();
}

const words = (text = ""): readonly string[] => text.split(" ").filter((word) => word !== "");
const pairs = (text = ""): readonly (readonly [string, string])[] =>
  words(text).map((word) => word.split("=") as [string, string]);
/** Converts `topP` to `top_p`. */
const snake = (name: string): string => name.replace(/([a-z])([A-Z]+)/g, "$1_$2").toLowerCase();

function tableFields(table: string, block: Fields): JsonFields {
  const fields = words(table).map((word): [string, Json | undefined] => {
    const [, name, how, other] = /^(\w+)([!~+]?)(?:=(\w+))?$/.exec(word)!;
    const given = block[name!];
    const value =
      how === "!"
        ? (given ?? "")
        : how === "~"
          ? parseFraction(given as string)
          : how === "+"
            ? given || undefined
            : nonEmpty(given);
    return [other ?? snake(name!), value];
  });
  return Object.fromEntries(fields);
}

function addKey({ spec, additions }: Parts, name: string): void {
  const isBrought = spec.apiKeyPassthrough && name !== "FOUNDRY_API_KEY";
  if (isBrought || !spec.apiKeySecret) return;
  additions.env.push(secretVariable(name, spec.apiKeySecret, spec.apiKeySecretKey ?? ""));
}

/** Adds OpenAI's API key, or the service account that is exchanged for a token. */
function tokenExchange(parts: Parts): JsonFields {
  const { spec, additions } = parts;
  const exchange = spec.openAI?.tokenExchange;
  if (!exchange) addKey(parts, "OPENAI_API_KEY");
  const account = exchange?.type === "GDCHServiceAccount" ? exchange.gdchServiceAccount : undefined;
  if (!account) return {};
  const path = "/gdch-creds";
  additions.volumes.push(secretVolume("gdch-creds", spec.apiKeySecret ?? "", 0o444));
  additions.mounts.push({ mountPath: path, name: "gdch-creds", readOnly: true });
  const service_account_path = `${path}/${spec.apiKeySecretKey ?? ""}`;
  const gdch_service_account = { service_account_path, audience: account.audience };
  return { token_exchange: { type: exchange!.type, gdch_service_account } };
}

function vertexAI({ spec, block, additions }: Parts, isGemini: boolean): JsonFields {
  additions.env.push(variable("GOOGLE_CLOUD_PROJECT", String(block.projectID)));
  additions.env.push(variable("GOOGLE_CLOUD_LOCATION", String(block.location)));
  if (isGemini) additions.env.push(variable("GOOGLE_GENAI_USE_VERTEXAI", "true"));
  if (!spec.apiKeySecret) return {};
  additions.env.push(variable("GOOGLE_APPLICATION_CREDENTIALS", `/creds/${spec.apiKeySecretKey ?? ""}`));
  additions.volumes.push(secretVolume("google-creds", spec.apiKeySecret));
  additions.mounts.push({ mountPath: "/creds", name: "google-creds" });
  return {};
}

async function bedrock({ objects, namespace, spec, additions }: Parts): Promise<JsonFields> {
  const { region, additionalModelRequestFields = {}, guardrail } = spec.bedrock!;
  additions.env.push(variable("AWS_REGION", region));
  if (!spec.apiKeyPassthrough && spec.apiKeySecret) {
    const { data = {} } = await required(objects, Secret, spec.apiKeySecret, namespace);
    const session = Object.hasOwn(data, "AWS_SESSION_TOKEN") ? ["AWS_SESSION_TOKEN"] : [];
    const keys = Object.hasOwn(data, "AWS_BEARER_TOKEN_BEDROCK")
      ? ["AWS_BEARER_TOKEN_BEDROCK"]
      : ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", ...session];
    for (const key of keys) additions.env.push(secretVariable(key, spec.apiKeySecret, key));
  }
  return {
    additional_model_request_fields: nonEmpty(goMaps(additionalModelRequestFields as Json)),
    guardrail: guardrail && tableFields("identifier! version! trace", guardrail as Fields),
  };
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

/** The fields of an embedding model that an agent's memory needs. */
const EMBEDDING_FIELDS: Partial<Record<Provider, string>> = {
  OpenAI: "base_url api_key_passthrough",
  Anthropic: "base_url",
  SAPAICore: "base_url",
  AzureOpenAI: "api_key_passthrough endpoint deployment api_version",
  Foundry: "api_key_passthrough endpoint deployment api_version",
};
export function embeddingFields({ provider, fields }: TranslatedModel): JsonFields {
  const more = words(EMBEDDING_FIELDS[provider]).map((name) => [name, nonEmpty(fields[name])]);
  return { provider: fields.type, model: fields.model, ...Object.fromEntries(more) };
}
