import { k8s, type ObjectOf, resource } from "setpoint";
import { z } from "zod";
import { localReference, namedPodParts, podPart, podParts, sharedConditions, texts } from "./parts.js";

const pullPolicy = z.enum(["Always", "Never", "IfNotPresent"]);

const deployment = z
  .object({
    image: z.string().optional(),
    imagePullPolicy: pullPolicy.optional(),
    imagePullSecrets: z.array(localReference).optional(),
    port: z.int().default(3000),
    replicas: z.int().default(1),
    cmd: z.string().optional(),
    args: z.array(z.string()).optional(),
    env: texts.optional(),
    secretRefs: z.array(localReference).optional(),
    configMapRefs: z.array(localReference).optional(),
    volumes: namedPodParts.optional(),
    volumeMounts: podParts.optional(),
    initContainer: z
      .object({
        image: z.string().optional(),
        imagePullPolicy: pullPolicy.optional(),
        resources: podPart.optional(),
        securityContext: podPart.optional(),
      })
      .optional(),
    sidecars: namedPodParts.optional(),
    serviceAccount: z.object({ labels: texts.optional(), annotations: texts.optional() }).optional(),
    serviceAccountName: z.string().optional(),
    labels: texts.optional(),
    annotations: texts.optional(),
    resources: podPart.optional(),
    securityContext: podPart.optional(),
    podSecurityContext: podPart.optional(),
    nodeSelector: texts.optional(),
    tolerations: podParts.optional(),
    affinity: podPart.optional(),
  })
  .meta(
    k8s.rules(
      k8s.rule(
        "!(has(self.serviceAccount) && has(self.serviceAccountName))",
        "serviceAccount and serviceAccountName are mutually exclusive",
      ),
    ),
  );

const spec = z.object({
  deployment,
  transportType: z.enum(["stdio", "http"]).optional(),
  stdioTransport: z.object({}).optional(),
  httpTransport: z
    .object({
      targetPort: z.int().optional(),
      path: z.string().optional(),
      tls: z.object({ secretRef: z.string().optional(), insecureSkipVerify: z.boolean().default(false) }).optional(),
    })
    .optional(),
  timeout: z.string().default("30s"),
});

/** An MCP server that the operator runs, as kmcp does. */
export const MCPServer = resource("kagent.dev/v1alpha1/MCPServer", {
  spec,
  status: z.object({ observedGeneration: z.int().optional(), conditions: sharedConditions }),
  shortNames: ["mcps", "mcp"],
  categories: ["kagent"],
  columns: {
    Ready: { path: ".status.conditions[?(@.type=='Ready')].status", type: "string" },
    Age: ".metadata.creationTimestamp",
  },
});
export type MCPServer = ObjectOf<typeof MCPServer>;
