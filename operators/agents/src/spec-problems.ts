import { parseLabelSelector } from "setpoint/kinds";
import type { Agent } from "./kinds/agent.js";
import type { MCPServer } from "./kinds/mcp-server.js";
import { blockOf, type ModelConfig } from "./kinds/model-config.js";
import type { AllowedNamespaces } from "./kinds/parts.js";
import type { RemoteMCPServer } from "./kinds/remote-mcp-server.js";
import { goDurationMs } from "./translate/go-duration.js";
import { checkTemplate } from "./translate/go-template.js";
import { parseGoUrl } from "./translate/go-url.js";
import { hasSkills, skillsConfig } from "./translate/skills.js";
import { toolServerKind } from "./translate/tool-server.js";

/** A problem that the schema cannot express, with the path of its field. Depends on no other object. */
export interface SpecProblem {
  readonly path: string;
  readonly message: string;
}

type Add = (path: string, message: string) => void;

const DNS_LABEL = /^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/;
const PROTECTED_LABELS = ["app", "kagent"];

export const describeProblems = (problems: readonly SpecProblem[]): string =>
  problems.map(({ path, message }) => `${path}: ${message}`).join("; ");

export function agentProblems({ metadata, spec }: Agent): readonly SpecProblem[] {
  const problems: SpecProblem[] = [];
  const add: Add = (path, message) => void problems.push({ path, message });
  if (!DNS_LABEL.test(metadata.name)) {
    add("metadata.name", "must be a DNS label of at most 63 characters without dots: it becomes the name of a Service");
  }
  const at = spec.type === "BYO" ? "spec.byo.deployment" : "spec.declarative.deployment";
  const deployment = spec.type === "BYO" ? spec.byo?.deployment : spec.declarative?.deployment;
  if (spec.type === "BYO" && !spec.byo?.deployment?.image) add("spec.byo.deployment.image", "is required");
  for (const label of PROTECTED_LABELS) {
    if (deployment?.labels?.[label] !== undefined)
      add(`${at}.labels[${label}]`, "is reserved: the Deployment selects its pods by it");
  }
  const names = (deployment?.extraContainers ?? []).map(({ name }) => name);
  names.forEach((name, index) => {
    if (name === "kagent") add(`${at}.extraContainers[${index}].name`, '"kagent" is a reserved container name');
    else if (names.indexOf(name) !== index)
      add(`${at}.extraContainers[${index}].name`, `duplicate container name "${name}"`);
  });
  if (spec.skills && hasSkills(spec.skills)) addThrown(add, "spec.skills", () => skillsConfig(spec.skills!));
  namespaceProblems(spec.allowedNamespaces, add);
  if (spec.type === "Declarative") declarativeProblems({ metadata, spec } as Agent, add);
  return problems;
}

/** Adds an error that the check throws. Uses the path at the start of its message, or else the given path. */
function addThrown(add: Add, path: string, check: () => unknown): void {
  try {
    check();
  } catch (error) {
    const { message } = error as Error;
    const [, own = path, rest = message] = /^(spec\.[^:\s]+): (.*)$/s.exec(message) ?? [];
    add(own, rest);
  }
}

function namespaceProblems(allowed: AllowedNamespaces | undefined, add: Add): void {
  const { selector } = allowed ?? {};
  if (selector) addThrown(add, "spec.allowedNamespaces.selector", () => parseLabelSelector(selector as never));
}

function declarativeProblems({ metadata, spec }: Agent, add: Add): void {
  const { systemMessage, systemMessageFrom, modelConfig, tools = [], promptTemplate, memory } = spec.declarative ?? {};
  if (!systemMessage && !systemMessageFrom)
    add("spec.declarative.systemMessage", "systemMessage or systemMessageFrom is required");
  if (!modelConfig) add("spec.declarative.modelConfig", "is required");
  if (memory && !memory.modelConfig) add("spec.declarative.memory.modelConfig", "is required");
  if (promptTemplate?.dataSources?.length && systemMessage) {
    addThrown(add, "spec.declarative.systemMessage", () => checkTemplate(systemMessage, ["include"]));
  }
  tools.forEach(({ mcpServer, agent }, index) => {
    const path = `spec.declarative.tools[${index}]`;
    if (mcpServer && !toolServerKind(mcpServer)) {
      add(
        `${path}.mcpServer.kind`,
        `unknown tool server type "${mcpServer.kind ?? ""}" of the group "${mcpServer.apiGroup ?? ""}"`,
      );
    }
    if (agent && !["", "Agent"].includes(agent.kind ?? ""))
      add(`${path}.agent.kind`, `unsupported kind "${agent.kind}"`);
    const isSelf = agent?.name === metadata.name && (agent.namespace || metadata.namespace) === metadata.namespace;
    if (isSelf) add(`${path}.agent.name`, "agent tool cannot be used to reference itself");
  });
  // Two ConfigMaps may share an alias if their keys differ. The same ConfigMap twice always collides.
  const sources = (promptTemplate?.dataSources ?? []).map(({ alias, name }) => `${alias || name} ${name}`);
  sources.forEach((source, index) => {
    const path = `spec.declarative.promptTemplate.dataSources[${index}]`;
    if (sources.indexOf(source) !== index) add(path, `duplicate prompt template identifier "${source.split(" ")[0]}"`);
  });
}

/** References that are never allowed: MCPServers and Services can only be used in their own namespace. */
export function referenceProblems({ metadata, spec }: Agent): readonly SpecProblem[] {
  return (spec.declarative?.tools ?? []).flatMap(({ mcpServer }, index): readonly SpecProblem[] => {
    const kind = mcpServer && toolServerKind(mcpServer);
    const isOwn = !mcpServer?.namespace || mcpServer.namespace === metadata.namespace;
    if (isOwn || kind === undefined || kind === "RemoteMCPServer") return [];
    const path = `spec.declarative.tools[${index}].mcpServer.namespace`;
    return [{ path, message: `a ${kind} cannot be used from another namespace` }];
  });
}

/** Adds the scheme to a URL without one. */
export function effectiveUrl({ url, tls }: Pick<RemoteMCPServer["spec"], "url" | "tls">): string {
  return url.includes("://") ? url : `${tls ? "https" : "http"}://${url}`;
}

export function remoteServerProblems({ spec }: RemoteMCPServer): readonly SpecProblem[] {
  const problems: SpecProblem[] = [];
  const add: Add = (path, message) => void problems.push({ path, message });
  namespaceProblems(spec.allowedNamespaces, add);
  const url = effectiveUrl(spec);
  const scheme = parseGoUrl(url)?.scheme ?? "";
  if (!URL.canParse(url)) add("spec.url", `"${spec.url}" is no URL`);
  else if (scheme !== "http" && scheme !== "https") add("spec.url", `the scheme ${scheme} is neither http nor https`);
  for (const field of ["timeout", "sseReadTimeout"] as const) {
    const given = spec[field];
    if (given !== undefined && !isTime(given)) add(`spec.${field}`, `"${given}" is not a duration above zero`);
  }
  return problems;
}

const isTime = (text: string): boolean => (goDurationMs(text) ?? 0) > 0;

/** Providers that require their own block of settings. */
const NEEDS_BLOCK = ["AzureOpenAI", "Ollama", "GeminiVertexAI", "AnthropicVertexAI", "Bedrock", "SAPAICore", "Foundry"];

export function modelProblems({ spec }: ModelConfig): readonly SpecProblem[] {
  const block = blockOf(spec.provider);
  if (!NEEDS_BLOCK.includes(spec.provider) || spec[block] !== undefined) return [];
  return [{ path: `spec.${block}`, message: `is required for the provider ${spec.provider}` }];
}

export function mcpServerProblems({ metadata, spec }: MCPServer): readonly SpecProblem[] {
  const { image, cmd, port } = spec.deployment;
  const problems: SpecProblem[] = [];
  const add: Add = (path, message) => void problems.push({ path, message });
  if (!DNS_LABEL.test(metadata.name)) add("metadata.name", "must be a DNS label: it becomes the name of a Service");
  if (!port) add("spec.deployment.port", "cannot determine port: it is 0");
  if (!image && cmd !== "uvx" && cmd !== "npx") add("spec.deployment.image", "is required unless cmd is uvx or npx");
  if (spec.transportType === undefined) add("spec.transportType", "is required: stdio or http");
  if (spec.transportType === "http" && !spec.httpTransport?.targetPort)
    add("spec.httpTransport.targetPort", "is required");
  if (!isTime(spec.timeout)) add("spec.timeout", `"${spec.timeout}" is not a duration above zero`);
  return problems;
}
