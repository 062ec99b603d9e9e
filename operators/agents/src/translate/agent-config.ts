import { ConfigMap } from "setpoint/kinds/v1";
import { AgentsError, invalidSpec, referenceMissing } from "../errors.js";
import { Agent, type AgentTool } from "../kinds/agent.js";
import { goDurationMs } from "./go-duration.js";
import { goMap, type JsonFields, nonEmpty } from "./go-json.js";
import { executeTemplate } from "./go-template.js";
import { decodeHash, embeddingFields, type TranslatedModel, translateModel } from "./model.js";
import { type Objects, referredValue, required, resolveHeaders } from "./objects.js";
import { mergeAdditions, mountCa, noAdditions, type PodAdditions, tlsFields } from "./pod-additions.js";
import type { TranslateSettings } from "./settings.js";
import { skillNames } from "./skills.js";
import { findToolServer, isInternalUrl, plaintextUrl, throughProxy, toolServerKind } from "./tool-server.js";

/** The configuration of an agent, and what its parts add to the pod and to the rollout hash. */
export interface AgentConfig {
  readonly config: JsonFields;
  readonly additions: PodAdditions;
  readonly secretHashes: readonly Uint8Array[];
}

const MAX_DEPTH = 10;

/** The name of an object as an identifier of Python: `team/math-agent` is `team__NS__math_agent`. */
export const pythonIdentifier = (key: string): string => key.replaceAll("-", "_").replaceAll("/", "__NS__");
export const agentKey = ({ metadata }: Pick<Agent, "metadata">): string => `${metadata.namespace}/${metadata.name}`;

/** Throws where an agent is, by way of its tools, a tool of itself, or the chain of agents is too long. */
export async function checkAgentGraph(objects: Objects, agent: Agent, path: readonly string[] = []): Promise<void> {
  const key = agentKey(agent);
  if (path.includes(key)) throw invalidSpec(`cycle detected in agent tool chain: ${[...path, key].join(" -> ")}`);
  if (path.length > MAX_DEPTH)
    throw invalidSpec(`recursion limit reached in agent tool chain: ${path.join(" -> ")} -> ${key}`);
  if (agent.spec.type !== "Declarative") return;
  for (const tool of agent.spec.declarative?.tools ?? []) {
    if (tool.type !== "Agent" && !(tool.type === undefined && tool.agent)) continue;
    if (!tool.agent) throw invalidSpec("tool must have an agent reference");
    const other = await toolAgent(objects, tool.agent, agent.metadata.namespace!);
    if (agentKey(other) === key) throw invalidSpec(`agent tool cannot be used to reference itself, ${key}`);
    await checkAgentGraph(objects, other, [...path, key]);
  }
}

async function toolAgent(
  objects: Objects,
  reference: NonNullable<AgentTool["agent"]>,
  namespace: string,
): Promise<Agent> {
  const { kind = "", name } = reference;
  if (kind !== "" && kind !== "Agent")
    throw invalidSpec(`unsupported agent tool kind ${JSON.stringify(kind)} for agent ${name}`);
  return required(objects, Agent, name, reference.namespace || namespace);
}

export async function translateConfig(
  objects: Objects,
  agent: Agent,
  settings: TranslateSettings,
): Promise<AgentConfig> {
  const { spec } = agent;
  const additions = noAdditions();
  if (spec.type === "BYO") {
    return {
      config: { model: null, description: spec.description ?? "", instruction: "" },
      additions,
      secretHashes: [],
    };
  }
  const declarative = spec.declarative!;
  const namespace = agent.metadata.namespace!;
  const model = await agentModel(objects, agent, declarative.modelConfig ?? "");
  mergeAdditions(additions, model.additions);
  const secretHashes: Uint8Array[] = [model.secretHash];
  const instruction = await systemMessage(objects, agent);
  const context = declarative.context && (await contextFields(objects, agent, model, additions, secretHashes));
  const memory = declarative.memory && (await memoryFields(objects, agent, additions, secretHashes));
  const tools: Tools = { http: [], sse: [], agents: [] };
  for (const tool of declarative.tools ?? []) {
    const headers = await resolveHeaders(objects, tool.headersFrom, namespace);
    if (tool.mcpServer)
      await addServerTool(objects, tool, headers, namespace, settings, tools, additions, secretHashes);
    else if (tool.agent) tools.agents.push(await agentToolFields(objects, tool, headers, agent, settings));
    else throw invalidSpec("tool must have a provider or tool server");
  }
  const toolNames = [...tools.http, ...tools.sse].flatMap((tool) => (tool.tools ?? []) as readonly string[]);
  const network = spec.sandbox?.network;
  const config: JsonFields = {
    model: model.fields,
    description: spec.description ?? "",
    instruction: await renderedMessage(objects, agent, instruction, toolNames),
    http_tools: nonEmpty(tools.http),
    sse_tools: nonEmpty(tools.sse),
    remote_agents: nonEmpty(tools.agents),
    execute_code: declarative.executeCodeBlocks,
    stream: declarative.stream ?? false,
    memory,
    network: network && { allowed_domains: nonEmpty(network.allowedDomains) },
    context_config: context,
    share_tools: declarative.shareTools || undefined,
  };
  return { config, additions, secretHashes };
}

/** Models of Foundry are for the Go runtime alone. */
async function agentModel(objects: Objects, agent: Agent, name: string): Promise<TranslatedModel> {
  const model = await translateModel(objects, agent.metadata.namespace!, name);
  if (model.provider === "Foundry" && agent.spec.declarative?.runtime !== "go") {
    throw invalidSpec('the Foundry model provider requires declarative runtime "go"');
  }
  return model;
}

async function contextFields(
  objects: Objects,
  agent: Agent,
  model: TranslatedModel,
  additions: PodAdditions,
  secretHashes: Uint8Array[],
): Promise<JsonFields> {
  const { context, modelConfig } = agent.spec.declarative!;
  const compaction = context?.compaction;
  if (!compaction) return {};
  const { summarizer } = compaction;
  let summarizerModel = summarizer && model;
  if (summarizer?.modelConfig && summarizer.modelConfig !== modelConfig) {
    summarizerModel = await agentModel(objects, agent, summarizer.modelConfig);
    mergeAdditions(additions, summarizerModel.additions);
    secretHashes.push(summarizerModel.secretHash);
  }
  return {
    compaction: {
      compaction_interval: compaction.compactionInterval,
      overlap_size: compaction.overlapSize,
      summarizer_model: summarizerModel?.fields,
      prompt_template: nonEmpty(summarizer?.promptTemplate),
      token_threshold: compaction.tokenThreshold,
      event_retention_size: compaction.eventRetentionSize,
    },
  };
}

async function memoryFields(
  objects: Objects,
  agent: Agent,
  additions: PodAdditions,
  secretHashes: Uint8Array[],
): Promise<JsonFields> {
  const { memory, modelConfig } = agent.spec.declarative!;
  const model = await agentModel(objects, agent, memory!.modelConfig);
  mergeAdditions(additions, model.additions);
  if (memory!.modelConfig !== modelConfig) secretHashes.push(model.secretHash);
  return { ttl_days: memory!.ttlDays || undefined, embedding: embeddingFields(model) };
}

interface Tools {
  readonly http: JsonFields[];
  readonly sse: JsonFields[];
  readonly agents: JsonFields[];
}

async function addServerTool(
  objects: Objects,
  tool: AgentTool,
  agentHeaders: Readonly<Record<string, string>>,
  namespace: string,
  settings: TranslateSettings,
  tools: Tools,
  additions: PodAdditions,
  secretHashes: Uint8Array[],
): Promise<void> {
  const reference = tool.mcpServer!;
  const server = await findToolServer(objects, reference, namespace);
  const { proxyUrl } = settings;
  const isRemote = toolServerKind(reference) === "RemoteMCPServer";
  const usesProxy = proxyUrl !== undefined && (!isRemote || (await isInternalUrl(objects, server.url)));
  const headers = { ...(await resolveHeaders(objects, server.headersFrom, server.namespace)), ...agentHeaders };
  const plain = isRemote && settings.plaintextEgress ? plaintextUrl(server) : server.url;
  const target = usesProxy ? throughProxy(server.url, proxyUrl, headers) : { url: plain, headers };
  const isSse = server.protocol === "SSE";
  const fields: JsonFields = {
    params: {
      url: target.url,
      headers: goMap(target.headers),
      timeout: seconds(server.timeout, "spec.timeout"),
      sse_read_timeout: seconds(server.sseReadTimeout, "spec.sseReadTimeout"),
      terminate_on_close: isSse ? undefined : server.terminateOnClose,
      ...tlsFields(server.tls),
    },
    tools: nonEmpty(reference.toolNames),
    allowed_headers: nonEmpty(reference.allowedHeaders),
    require_approval: nonEmpty(reference.requireApproval),
  };
  (isSse ? tools.sse : tools.http).push(fields);
  mountCa(additions, server.tls);
  secretHashes.push(decodeHash(server.secretHash));
}

function seconds(duration: string | undefined, field: string): number | undefined {
  if (duration === undefined) return undefined;
  const durationMs = goDurationMs(duration);
  if (durationMs === undefined) throw invalidSpec(`${field}: ${JSON.stringify(duration)} is no duration`);
  return durationMs / 1_000;
}

async function agentToolFields(
  objects: Objects,
  tool: AgentTool,
  headers: Readonly<Record<string, string>>,
  agent: Agent,
  { proxyUrl }: TranslateSettings,
): Promise<JsonFields> {
  const other = await toolAgent(objects, tool.agent!, agent.metadata.namespace!);
  if (agentKey(other) === agentKey(agent)) {
    throw invalidSpec(`agent tool cannot be used to reference itself, ${agentKey(agent)}`);
  }
  const url = `http://${other.metadata.name}.${other.metadata.namespace}:8080`;
  const target = proxyUrl === undefined ? { url, headers } : throughProxy(url, proxyUrl, headers);
  return {
    name: pythonIdentifier(agentKey(other)),
    url: target.url,
    headers: nonEmpty(goMap(target.headers)),
    description: nonEmpty(other.spec.description),
    isolate_sessions: tool.isolateSessions || undefined,
  };
}

async function systemMessage(objects: Objects, { metadata, spec }: Agent): Promise<string> {
  const { systemMessageFrom, systemMessage: message = "" } = spec.declarative!;
  if (systemMessageFrom) return referredValue(objects, systemMessageFrom, metadata.namespace!);
  if (message !== "") return message;
  throw invalidSpec("at least one system message source (systemMessage or systemMessageFrom) must be specified");
}

/** The system message with its template carried out, where the agent has sources for one. */
async function renderedMessage(
  objects: Objects,
  { metadata, spec }: Agent,
  message: string,
  toolNames: readonly string[],
): Promise<string> {
  const sources = spec.declarative?.promptTemplate?.dataSources ?? [];
  if (sources.length === 0) return message;
  const texts = new Map<string, string>();
  for (const { name, alias } of sources) {
    const { data = {} } = await required(objects, ConfigMap, name, metadata.namespace!);
    for (const [key, text] of Object.entries(data)) {
      const path = `${alias || name}/${key}`;
      if (texts.has(path))
        throw invalidSpec(`duplicate prompt template identifier "${path}" from prompt source "${name}"`);
      texts.set(path, text);
    }
  }
  const include = (path: unknown): string => {
    const text = texts.get(String(path));
    if (text !== undefined) return text;
    throw referenceMissing(`prompt template "${path}" not found, available: ${[...texts.keys()].sort().join(", ")}`);
  };
  const data = {
    AgentName: metadata.name,
    AgentNamespace: metadata.namespace!,
    Description: spec.description ?? "",
    ToolNames: toolNames,
    SkillNames: spec.skills ? skillNames(spec.skills) : [],
  };
  return executeTemplate(message, data, { include });
}

export const isReferenceError = (error: unknown): error is AgentsError =>
  error instanceof AgentsError && error.code === "AGENTS_REFERENCE_MISSING";
