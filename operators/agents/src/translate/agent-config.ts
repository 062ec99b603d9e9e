import { ConfigMap } from "setpoint/kinds/v1";
import { invalidSpec, referenceMissing } from "../errors.js";
import { Agent, type AgentTool } from "../kinds/agent.js";
import { goSeconds } from "./go-duration.js";
import { goMap, type JsonFields, nonEmpty } from "./go-json.js";
import { executeTemplate } from "./go-template.js";
import { decodeHash, embeddingFields, type TranslatedModel, translateModel } from "./model.js";
import { type Objects, referredValue, required, resolveHeaders } from "./objects.js";
import { mergeAdditions, mountCa, noAdditions, type PodAdditions, tlsFields } from "./pod-additions.js";
import type { TranslateSettings } from "./settings.js";
import { skillNames } from "./skills.js";
import { findToolServer, isInternalUrl, plaintextUrl, throughProxy, toolServerKind } from "./tool-server.js";

/** The configuration of an agent, and its additions to the pod and the rollout hash. */
export interface AgentConfig {
  readonly config: JsonFields;
  readonly additions: PodAdditions;
  readonly secretHashes: readonly Uint8Array[];
}

const MAX_DEPTH = 10;

/** A key as a Python identifier: `team/math-agent` becomes `team__NS__math_agent`. */
export const pythonIdentifier = (key: string): string => key.replaceAll("-", "_").replaceAll("/", "__NS__");
export const agentKey = ({ metadata }: Pick<Agent, "metadata">): string => `${metadata.namespace}/${metadata.name}`;

/** Throws if an agent is directly or indirectly its own tool, or if a chain of agents is too long. */
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

/** Shared inputs and outputs of the functions that translate parts of an agent. */
interface Build extends AgentConfig {
  readonly objects: Objects;
  readonly agent: Agent;
  readonly namespace: string;
  readonly settings: TranslateSettings;
  readonly secretHashes: Uint8Array[];
  readonly tools: Readonly<Record<"http" | "sse" | "agents", JsonFields[]>>;
}

export async function translateConfig(
  objects: Objects,
  agent: Agent,
  settings: TranslateSettings,
): Promise<AgentConfig> {
  const { spec } = agent;
  const config: JsonFields = { model: null, description: spec.description ?? "", instruction: "" };
  const namespace = agent.metadata.namespace!;
  const tools = { http: [], sse: [], agents: [] };
  const build: Build = {
    objects,
    agent,
    namespace,
    settings,
    config,
    tools,
    additions: noAdditions(),
    secretHashes: [],
  };
  return spec.type === "BYO" ? build : { ...build, config: await declarativeConfig(build) };
}

async function declarativeConfig(build: Build): Promise<JsonFields> {
  const { objects, agent, namespace, tools } = build;
  const { spec } = agent;
  const declarative = spec.declarative!;
  const model = await agentModel(build, declarative.modelConfig ?? "", true);
  const instruction = await systemMessage(objects, agent);
  const context = declarative.context && (await contextFields(build, model));
  const memory = declarative.memory && (await memoryFields(build));
  for (const tool of declarative.tools ?? []) {
    const headers = await resolveHeaders(objects, tool.headersFrom, namespace);
    if (tool.mcpServer) await addServerTool(build, tool.mcpServer, headers);
    else if (tool.agent) tools.agents.push(await agentToolFields(build, tool, headers));
    else throw invalidSpec("tool must have a provider or tool server");
  }
  const toolNames = [...tools.http, ...tools.sse].flatMap((tool) => (tool.tools ?? []) as readonly string[]);
  const network = spec.sandbox?.network;
  return {
    ...build.config,
    model: model.fields,
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
}

/** Translates a model of the agent. Only the Go runtime supports Foundry models. */
async function agentModel(build: Build, name: string, isHashed: boolean): Promise<TranslatedModel> {
  const model = await translateModel(build.objects, build.namespace, name);
  if (model.provider === "Foundry" && build.agent.spec.declarative?.runtime !== "go") {
    throw invalidSpec('the Foundry model provider requires declarative runtime "go"');
  }
  mergeAdditions(build.additions, model.additions);
  if (isHashed) build.secretHashes.push(model.secretHash);
  return model;
}

async function contextFields(build: Build, model: TranslatedModel): Promise<JsonFields> {
  const { context, modelConfig } = build.agent.spec.declarative!;
  const compaction = context?.compaction;
  if (!compaction) return {};
  const { summarizer } = compaction;
  const other = summarizer?.modelConfig !== modelConfig ? summarizer?.modelConfig : undefined;
  const summarizerModel = other ? await agentModel(build, other, true) : summarizer && model;
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

async function memoryFields(build: Build): Promise<JsonFields> {
  const { memory, modelConfig } = build.agent.spec.declarative!;
  const model = await agentModel(build, memory!.modelConfig, memory!.modelConfig !== modelConfig);
  return { ttl_days: memory!.ttlDays || undefined, embedding: embeddingFields(model) };
}

type Headers = Readonly<Record<string, string>>;

async function addServerTool(
  { objects, namespace, settings, tools, additions, secretHashes }: Build,
  reference: NonNullable<AgentTool["mcpServer"]>,
  agentHeaders: Headers,
): Promise<void> {
  const server = await findToolServer(objects, reference, namespace);
  const { proxyUrl } = settings;
  const isRemote = toolServerKind(reference) === "RemoteMCPServer";
  const usesProxy = proxyUrl !== undefined && (!isRemote || (await isInternalUrl(objects, server.url)));
  const headers = { ...(await resolveHeaders(objects, server.headersFrom, server.namespace)), ...agentHeaders };
  const plain = isRemote && settings.plaintextEgress ? plaintextUrl(server) : server.url;
  const target = usesProxy ? throughProxy(server.url, proxyUrl, headers) : { url: plain, headers };
  const isSse = server.protocol === "SSE";
  (isSse ? tools.sse : tools.http).push({
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
  });
  mountCa(additions, server.tls);
  secretHashes.push(decodeHash(server.secretHash));
}

function seconds(duration: string | undefined, field: string): number | undefined {
  if (duration === undefined) return undefined;
  const found = goSeconds(duration);
  if (found === undefined) throw invalidSpec(`${field}: ${JSON.stringify(duration)} is not a duration`);
  return found;
}

async function agentToolFields(build: Build, tool: AgentTool, headers: Headers): Promise<JsonFields> {
  const { objects, namespace, settings } = build;
  const other = await toolAgent(objects, tool.agent!, namespace);
  const url = `http://${other.metadata.name}.${other.metadata.namespace}:8080`;
  const target = settings.proxyUrl === undefined ? { url, headers } : throughProxy(url, settings.proxyUrl, headers);
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

/** The system message. Renders it as a template if the agent has `promptTemplate` data sources. */
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
