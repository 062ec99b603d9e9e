import { AgentsError } from "../errors.js";
import type { ModelProviderConfig } from "../kinds/model-provider-config.js";
import { connectionError, exchange, type HttpTarget } from "./http-exchange.js";

type Provider = ModelProviderConfig["spec"]["type"];

/** The request that lists a provider's models. */
interface ModelList {
  readonly endpoint: string;
  readonly path: string;
  readonly headers: (key: string) => Readonly<Record<string, string>>;
  /** The field of the answer that holds the list. */
  readonly list: "data" | "models";
}

const bearer = (key: string): Record<string, string> => ({ authorization: `Bearer ${key}` });

const LISTS: Partial<Record<Provider, ModelList>> = {
  OpenAI: { endpoint: "https://api.openai.com/v1", path: "/models", headers: bearer, list: "data" },
  Anthropic: {
    endpoint: "https://api.anthropic.com",
    path: "/v1/models?limit=1000",
    headers: (key) => ({ "x-api-key": key, "anthropic-version": "2023-06-01" }),
    list: "data",
  },
  Ollama: { endpoint: "http://localhost:11434", path: "/api/tags", headers: () => ({}), list: "models" },
  Gemini: {
    endpoint: "https://generativelanguage.googleapis.com",
    path: "/v1beta/models?pageSize=1000",
    headers: (key) => ({ "x-goog-api-key": key }),
    list: "models",
  },
};

const MAX_BYTES = 4 * 1024 * 1024;

/** The request that lists the models; undefined if the provider has no such API. */
export function modelListOf(
  type: Provider,
  endpoint: string | undefined,
  key: string,
): (HttpTarget & { readonly answerList: string }) | undefined {
  const list = LISTS[type];
  if (!list) return undefined;
  const base = (endpoint || list.endpoint).replace(/\/+$/, "");
  return { url: `${base}${list.path}`, headers: list.headers(key), answerList: list.list };
}

/** The names of a provider's models, sorted. Rejects with the same `MCP_…` errors as the listing of tools. */
export async function listModels(
  target: HttpTarget & { readonly answerList: string },
  signal: AbortSignal,
  onProgress: () => void,
): Promise<readonly string[]> {
  const host = new URL(target.url).host;
  try {
    const { status, body } = await exchange(target, { method: "GET", url: target.url }, signal);
    if (status < 200 || status > 299) {
      body.destroy();
      const code = status === 401 || status === 403 ? "MCP_UNAUTHORIZED" : "MCP_HTTP_STATUS";
      throw new AgentsError(code, `${host}: HTTP status ${status}`);
    }
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    for await (const chunk of body) {
      onProgress();
      bytes += chunk.length;
      if (bytes > MAX_BYTES) throw new AgentsError("MCP_TOO_LARGE", `${host}: the answer exceeds ${MAX_BYTES} bytes`);
      chunks.push(chunk);
    }
    const answer = JSON.parse(Buffer.concat(chunks).toString("utf8")) as Readonly<Record<string, unknown>>;
    const items = answer[target.answerList];
    if (!Array.isArray(items))
      throw new AgentsError("MCP_PROTOCOL", `${host}: the answer has no list "${target.answerList}"`);
    const names = items.map((item: { readonly id?: unknown; readonly name?: unknown }) => item.id ?? item.name);
    return [
      ...new Set(names.filter((name) => typeof name === "string").map((name) => name.replace(/^models\//, ""))),
    ].sort();
  } catch (error) {
    if (error instanceof AgentsError) throw error;
    if (signal.aborted) throw new AgentsError("MCP_TIMEOUT", `${host}: no answer in time`, { cause: error });
    if (error instanceof SyntaxError)
      throw new AgentsError("MCP_PROTOCOL", `${host}: the answer is not JSON`, { cause: error });
    throw connectionError(error as Error, target.url);
  }
}
