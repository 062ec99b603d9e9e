import { k8s, type ObjectOf, resource } from "setpoint";
import { z } from "zod";
import {
  allowedNamespaces,
  conditions,
  header,
  localReference,
  namedPodParts,
  podPart,
  podParts,
  texts,
  valueReference,
} from "./parts.js";

const DEPLOYMENT_FIELDS = {
  replicas: z.int().optional(),
  imagePullSecrets: z.array(localReference).optional(),
  imagePullPolicy: z.string().optional(),
  volumes: namedPodParts.optional(),
  volumeMounts: podParts.optional(),
  labels: texts.optional(),
  annotations: texts.optional(),
  deploymentAnnotations: texts.optional(),
  env: namedPodParts.optional(),
  envFrom: podParts.optional(),
  resources: podPart.optional(),
  tolerations: podParts.optional(),
  affinity: podPart.optional(),
  nodeSelector: texts.optional(),
  securityContext: podPart.optional(),
  podSecurityContext: podPart.optional(),
  serviceAccountName: z.string().optional(),
  serviceAccountConfig: z.object({ labels: texts.optional(), annotations: texts.optional() }).optional(),
  extraContainers: namedPodParts.optional(),
};
const DEPLOYMENT_RULES = k8s.rules(
  k8s.rule(
    "!(has(self.serviceAccountName) && has(self.serviceAccountConfig))",
    "serviceAccountName and serviceAccountConfig are mutually exclusive",
  ),
);

const mcpServerTool = z
  .object({
    kind: z.string().optional(),
    apiGroup: z.string().optional(),
    name: z.string(),
    namespace: z.string().optional(),
    toolNames: z.array(z.string()).max(50).optional(),
    requireApproval: z.array(z.string()).max(50).optional(),
    allowedHeaders: z.array(z.string()).optional(),
  })
  .meta(
    k8s.rules(
      k8s.rule(
        "!has(self.requireApproval) || self.requireApproval.all(x, has(self.toolNames) && x in self.toolNames)",
        "each RequireApproval entry must also appear in ToolNames",
      ),
    ),
  );

const agentTool = z.object({
  kind: z.string().optional(),
  apiGroup: z.string().optional(),
  name: z.string(),
  namespace: z.string().optional(),
});

const tool = z
  .object({
    type: z.enum(["McpServer", "Agent"]).optional(),
    mcpServer: mcpServerTool.optional(),
    agent: agentTool.optional(),
    headersFrom: z.array(header).optional(),
    isolateSessions: z.boolean().optional(),
  })
  .meta(
    k8s.rules(
      k8s.rule(
        "!(has(self.mcpServer) && self.type != 'McpServer')",
        "type.mcpServer must be nil if the type is not McpServer",
      ),
      k8s.rule(
        "!(!has(self.mcpServer) && self.type == 'McpServer')",
        "type.mcpServer must be specified for McpServer filter.type",
      ),
      k8s.rule("!(has(self.agent) && self.type != 'Agent')", "type.agent must be nil if the type is not Agent"),
      k8s.rule("!(!has(self.agent) && self.type == 'Agent')", "type.agent must be specified for Agent filter.type"),
      k8s.rule(
        "!(has(self.isolateSessions) && self.type != 'Agent')",
        "isolateSessions can only be set when type is Agent",
      ),
    ),
  );

const declarative = z
  .object({
    runtime: z.enum(["python", "go"]).default("go"),
    systemMessage: z.string().optional(),
    systemMessageFrom: valueReference.optional(),
    promptTemplate: z
      .object({
        dataSources: z
          .array(
            z.object({
              kind: z.string().optional(),
              apiGroup: z.string().optional(),
              name: z.string(),
              alias: z.string().optional(),
            }),
          )
          .max(20)
          .optional(),
      })
      .optional(),
    modelConfig: z.string().optional(),
    stream: z.boolean().optional(),
    tools: z.array(tool).max(20).optional(),
    a2aConfig: z
      .object({
        skills: z
          .array(
            z.object({
              id: z.string().optional(),
              name: z.string().min(1),
              description: z.string().optional(),
              tags: z.array(z.string()).max(20).optional(),
              examples: z.array(z.string()).max(20).optional(),
              inputModes: z.array(z.string()).optional(),
              outputModes: z.array(z.string()).optional(),
            }),
          )
          .min(1)
          .optional(),
      })
      .optional(),
    executeCodeBlocks: z.boolean().optional(),
    memory: z.object({ modelConfig: z.string(), ttlDays: z.int().min(1).optional() }).optional(),
    shareTools: z.boolean().optional(),
    context: z
      .object({
        compaction: z
          .object({
            compactionInterval: z.int().min(1).default(5),
            overlapSize: z.int().min(0).default(2),
            tokenThreshold: z.int().optional(),
            eventRetentionSize: z.int().optional(),
            summarizer: z
              .object({ modelConfig: z.string().optional(), promptTemplate: z.string().optional() })
              .optional(),
          })
          .optional(),
      })
      .optional(),
    deployment: z
      .object({ ...DEPLOYMENT_FIELDS, imageRegistry: z.string().optional() })
      .meta(DEPLOYMENT_RULES)
      .optional(),
  })
  .meta(
    k8s.rules(
      k8s.rule(
        "!has(self.systemMessage) || !has(self.systemMessageFrom)",
        "systemMessage and systemMessageFrom are mutually exclusive",
      ),
    ),
  );

const skills = z.object({
  refs: z.array(z.string()).min(1).max(20).optional(),
  gitRefs: z
    .array(
      z.object({
        url: z.string(),
        ref: z.string().default("main"),
        path: z.string().optional(),
        name: z.string().optional(),
      }),
    )
    .min(1)
    .max(20)
    .optional(),
  s3Refs: z
    .array(
      z.object({
        uri: z.string().min(1).meta({ pattern: "^s3://.+" }),
        region: z.string().optional(),
        name: z.string().optional(),
      }),
    )
    .min(1)
    .max(20)
    .optional(),
  gitAuthSecretRef: localReference.optional(),
  imagePullSecrets: z.array(localReference).max(20).optional(),
  insecureSkipVerify: z.boolean().optional(),
  initContainer: z.object({ resources: podPart.optional(), env: namedPodParts.optional() }).optional(),
});

const spec = z
  .object({
    type: z.enum(["Declarative", "BYO"]).default("Declarative"),
    declarative: declarative.optional(),
    byo: z
      .object({
        deployment: z
          .object({
            ...DEPLOYMENT_FIELDS,
            image: z.string().min(1).optional(),
            cmd: z.string().optional(),
            args: z.array(z.string()).optional(),
            workingDir: z.string().optional(),
          })
          .meta(DEPLOYMENT_RULES)
          .optional(),
      })
      .optional(),
    description: z.string().optional(),
    iconUrl: z.string().meta({ format: "uri" }).optional(),
    documentationUrl: z.string().meta({ format: "uri" }).optional(),
    version: z.string().optional(),
    provider: z.object({ organization: z.string().min(1), url: z.string().meta({ format: "uri" }) }).optional(),
    skills: skills.optional(),
    sandbox: z.object({ network: z.object({ allowedDomains: z.array(z.string()).optional() }).optional() }).optional(),
    allowedNamespaces: allowedNamespaces.optional(),
  })
  .meta({
    // The default of the type fills it in; the rules refuse an empty specification, which would be the default otherwise.
    required: ["type"],
    ...k8s.rules(
      k8s.rule("has(self.type)", "type must be specified"),
      k8s.rule("self.type == 'Declarative' || self.type == 'BYO'", "type must be either Declarative or BYO"),
      k8s.rule(
        "(self.type == 'Declarative' && has(self.declarative)) || (self.type == 'BYO' && has(self.byo))",
        "declarative must be specified if type is Declarative, or byo must be specified if type is BYO",
      ),
    ),
  });

const conditionColumn = (type: string) => ({
  path: `.status.conditions[?(@.type=='${type}')].status`,
  type: "string" as const,
});

/** An AI agent: a declaration that the operator turns into a workload, or an image of one's own. */
export const Agent = resource("kagent.dev/v1alpha2/Agent", {
  spec,
  status: z.object({ observedGeneration: z.int().optional(), conditions }),
  categories: ["kagent"],
  columns: {
    Type: ".spec.type",
    Runtime: ".spec.declarative.runtime",
    Ready: conditionColumn("Ready"),
    Accepted: conditionColumn("Accepted"),
  },
});
export type Agent = ObjectOf<typeof Agent>;
export type AgentTool = NonNullable<NonNullable<Agent["spec"]["declarative"]>["tools"]>[number];
