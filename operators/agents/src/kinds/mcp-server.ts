import { type ObjectOf, resource } from "setpoint";
import { z } from "zod";
import {
  conditionColumn,
  localReference,
  namedPodParts,
  optional,
  podPart,
  podParts,
  rules,
  sharedConditions,
  text,
  textList,
  texts,
} from "./parts.js";

const image = {
  ...optional(text, "image"),
  ...optional(z.enum(["Always", "Never", "IfNotPresent"]), "imagePullPolicy"),
  ...optional(podPart, "resources", "securityContext"),
};
const deployment = z
  .object({
    ...image,
    port: z.int().default(3000),
    replicas: z.int().default(1),
    ...optional(text, "cmd", "serviceAccountName"),
    ...optional(textList, "args"),
    ...optional(texts, "env", "labels", "annotations", "nodeSelector"),
    ...optional(z.array(localReference), "imagePullSecrets", "secretRefs", "configMapRefs"),
    ...optional(namedPodParts, "volumes", "sidecars"),
    ...optional(podParts, "volumeMounts", "tolerations"),
    ...optional(podPart, "podSecurityContext", "affinity"),
    ...optional(z.object(image), "initContainer"),
    ...optional(z.object(optional(texts, "labels", "annotations")), "serviceAccount"),
  })
  .meta(
    rules({
      "!(has(self.serviceAccount) && has(self.serviceAccountName))":
        "serviceAccount and serviceAccountName are mutually exclusive",
    }),
  );

const tls = z.object({ secretRef: text.optional(), insecureSkipVerify: z.boolean().default(false) });
const spec = z.object({
  deployment,
  transportType: z.enum(["stdio", "http"]).optional(),
  stdioTransport: z.object({}).optional(),
  httpTransport: z.object({ targetPort: z.int().optional(), path: text.optional(), tls: tls.optional() }).optional(),
  timeout: text.default("30s"),
});

/** An MCP server that the operator runs, as kmcp does. */
export const MCPServer = resource("kagent.dev/v1alpha1/MCPServer", {
  spec,
  status: z.object({ observedGeneration: z.int().optional(), conditions: sharedConditions }),
  shortNames: ["mcps", "mcp"],
  categories: ["kagent"],
  columns: {
    Ready: conditionColumn("Ready"),
    Age: ".metadata.creationTimestamp",
  },
});
export type MCPServer = ObjectOf<typeof MCPServer>;
