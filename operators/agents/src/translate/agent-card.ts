import type { Agent } from "../kinds/agent.js";
import { type JsonFields, nonEmpty } from "./go-json.js";

/** What an agent says of itself to others (A2A). */
export interface AgentCard {
  /** As version 1.0 of the protocol has it. */
  readonly card: JsonFields;
  /** With the fields that clients of version 0.3 look for: what the agent's Secret holds. */
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
