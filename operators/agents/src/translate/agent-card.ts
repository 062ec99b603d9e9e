import type { Agent } from "../kinds/agent.js";
import { type JsonFields, nonEmpty } from "./go-json.js";

/** The A2A card with which an agent describes itself to others. */
export interface AgentCard {
  /** In version 1.0 of the protocol. */
  readonly card: JsonFields;
  /** Also with the fields for clients of version 0.3. The agent's Secret holds this one. */
  readonly compatible: JsonFields;
}

export function agentCard({ metadata, spec }: Agent): AgentCard {
  const url = `http://${metadata.name}.${metadata.namespace}:8080`;
  const interfaces = ["0.3", "1.0"].map((protocolVersion) => ({ url, protocolBinding: "JSONRPC", protocolVersion }));
  const configured = spec.type === "Declarative" ? spec.declarative?.a2aConfig?.skills : undefined;
  const skills = (configured ?? []).map((skill) => ({
    description: skill.description ?? "",
    examples: nonEmpty(skill.examples),
    id: skill.id ?? "",
    inputModes: nonEmpty(skill.inputModes),
    name: skill.name,
    outputModes: nonEmpty(skill.outputModes),
    tags: skill.tags ?? null,
  }));
  const { provider } = spec;
  const card: JsonFields = {
    defaultInputModes: ["text"],
    defaultOutputModes: ["text"],
    description: spec.description ?? "",
    documentationUrl: nonEmpty(spec.documentationUrl),
    iconUrl: nonEmpty(spec.iconUrl),
    name: metadata.name.replaceAll("-", "_"),
    provider: provider && { organization: provider.organization, url: provider.url },
    version: spec.version ?? "",
    skills,
    capabilities: { streaming: true },
    supportedInterfaces: interfaces,
  };
  return { card, compatible: { ...card, url, protocolVersion: "0.3", preferredTransport: "JSONRPC" } };
}
