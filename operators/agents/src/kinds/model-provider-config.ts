import { type ObjectOf, resource } from "setpoint";
import { z } from "zod";
import { PROVIDERS } from "./model-config.js";
import { conditionColumn, rules, sharedConditions, text } from "./parts.js";

const spec = z
  .object({
    type: z.enum(PROVIDERS),
    endpoint: text.meta({ pattern: "^https?://.*" }).optional(),
    secretRef: z.object({ name: text }).optional(),
  })
  .meta(
    rules({
      "!has(self.endpoint) || size(self.endpoint) == 0 || self.endpoint.startsWith('http://') || self.endpoint.startsWith('https://')":
        "endpoint must be a valid URL starting with http:// or https://",
      "self.type == 'Ollama' || (has(self.secretRef) && has(self.secretRef.name) && size(self.secretRef.name) > 0)":
        "secretRef is required for providers that need authentication (not Ollama)",
    }),
  );

/** A model provider. The operator lists its models for users to choose from. */
export const ModelProviderConfig = resource("kagent.dev/v1alpha2/ModelProviderConfig", {
  spec,
  status: z.object({
    observedGeneration: z.int().optional(),
    conditions: sharedConditions,
    discoveredModels: z.array(text).optional(),
    modelCount: z.int().optional(),
    lastDiscoveryTime: text.meta({ format: "date-time" }).optional(),
    secretHash: text.optional(),
  }),
  shortNames: ["mprov"],
  categories: ["kagent"],
  columns: {
    Type: ".spec.type",
    Endpoint: ".spec.endpoint",
    Models: ".status.modelCount",
    Ready: conditionColumn("Ready"),
    Age: ".metadata.creationTimestamp",
  },
});
export type ModelProviderConfig = ObjectOf<typeof ModelProviderConfig>;
