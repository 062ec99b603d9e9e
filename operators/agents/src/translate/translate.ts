import type { Agent } from "../kinds/agent.js";
import { agentCard } from "./agent-card.js";
import { checkAgentGraph, translateConfig } from "./agent-config.js";
import type { JsonFields } from "./go-json.js";
import { buildManifest, type RolloutInputs } from "./manifest.js";
import type { Objects } from "./objects.js";
import type { TranslateSettings } from "./settings.js";

/** An Agent as workload: its configuration, its card and the objects that run it. */
export interface Translation {
  readonly agentCard: JsonFields;
  readonly config: JsonFields;
  readonly manifest: readonly JsonFields[];
  readonly rolloutInputs: RolloutInputs;
}

/**
 * Translates an Agent. The same objects always give the same bytes. Throws `AGENTS_INVALID_SPEC` for what cannot be
 * carried out, and `AGENTS_REFERENCE_MISSING` where something that it refers to is not there.
 */
export async function translateAgent(
  objects: Objects,
  agent: Agent,
  settings: TranslateSettings,
): Promise<Translation> {
  await checkAgentGraph(objects, agent);
  const translated = await translateConfig(objects, agent, settings);
  const { objects: manifest, rolloutInputs } = buildManifest(agent, translated, settings);
  return { agentCard: agentCard(agent).card, config: translated.config, manifest, rolloutInputs };
}
