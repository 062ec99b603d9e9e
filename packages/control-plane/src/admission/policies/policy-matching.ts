import type { ResourceDefinition } from "../../kinds/resource-definition.js";
import type { AdmissionAttributes } from "../../registry/write/admission.js";
import type { Storage } from "../../storage/storage.js";
import { invocationOf } from "../webhooks/webhook-matching.js";
import type { CompiledMatch, NamedRule } from "./policy.js";

export interface MatchEnvironment {
  readonly storage: Storage;
  readonly equivalents: (definition: ResourceDefinition) => readonly ResourceDefinition[];
}

/** The version at which a policy or binding matches this request. Undefined if it does not match. */
export function matchedDefinition(
  { webhook, rules, excluded }: CompiledMatch,
  attributes: AdmissionAttributes,
  { storage, equivalents }: MatchEnvironment,
): ResourceDefinition | undefined {
  if (excluded.length > 0 && invocationWith(webhook, excluded, attributes, storage, equivalents)) return undefined;
  return invocationWith(webhook, rules, attributes, storage, equivalents);
}

function invocationWith(
  installed: CompiledMatch["webhook"],
  rules: readonly NamedRule[],
  attributes: AdmissionAttributes,
  storage: Storage,
  equivalents: MatchEnvironment["equivalents"],
): ResourceDefinition | undefined {
  const named = rules.filter(({ resourceNames }) => !resourceNames?.length || resourceNames.includes(attributes.name));
  if (named.length === 0) return undefined;
  const webhook = { ...installed, webhook: { ...installed.webhook, rules: named } };
  return invocationOf(webhook, attributes, storage, equivalents)?.definition;
}
