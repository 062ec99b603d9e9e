import type { Agent } from "../kinds/agent.js";
import { agentCard } from "./agent-card.js";
import { checkAgentGraph, translateConfig } from "./agent-config.js";
import type { JsonFields } from "./go-json.js";
import { buildManifest, type RolloutInputs } from "./manifest.js";
import type { Objects } from "./objects.js";
import type { TranslateSettings } from "./settings.js";

/** A translated Agent: its configuration, its card and the objects that run it. */
export interface Translation {
  readonly agentCard: JsonFields;
  readonly config: JsonFields;
  readonly manifest: readonly JsonFields[];
  readonly rolloutInputs: RolloutInputs;
}

/**
 * Translates an Agent. Deterministic to the byte. Throws `AGENTS_INVALID_SPEC` for an invalid spec, and
 * `AGENTS_REFERENCE_MISSING` for a missing reference.
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
