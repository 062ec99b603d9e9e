import { type ObjectOf, resource } from "setpoint";
import { z } from "zod";
import {
  allowedNamespaces,
  conditionColumn,
  conditions,
  header,
  localReference,
  namedPodParts,
  optional,
  podPart,
  podParts,
  rules,
  text,
  textList,
  texts,
  valueReference,
} from "./parts.js";

const DEPLOYMENT_FIELDS = {
  ...optional(z.int(), "replicas"),
  ...optional(text, "imagePullPolicy", "serviceAccountName"),
  ...optional(texts, "labels", "annotations", "deploymentAnnotations", "nodeSelector"),
  ...optional(podPart, "resources", "affinity", "securityContext", "podSecurityContext"),
  ...optional(podParts, "volumeMounts", "envFrom", "tolerations"),
  ...optional(namedPodParts, "volumes", "env", "extraContainers"),
  ...optional(z.array(localReference), "imagePullSecrets"),
  ...optional(z.object(optional(texts, "labels", "annotations")), "serviceAccountConfig"),
};
const DEPLOYMENT_RULES = rules({
  "!(has(self.serviceAccountName) && has(self.serviceAccountConfig))":
    "serviceAccountName and serviceAccountConfig are mutually exclusive",
});

const reference = { name: text, ...optional(text, "kind", "apiGroup", "namespace") };
const mcpServer = z
  .object({
    ...reference,
    ...optional(textList.max(50), "toolNames", "requireApproval"),
    ...optional(textList, "allowedHeaders"),
  })
  .meta(
    rules({
      "!has(self.requireApproval) || self.requireApproval.all(x, has(self.toolNames) && x in self.toolNames)":
        "each RequireApproval entry must also appear in ToolNames",
    }),
  );
const tool = z
  .object({
    type: z.enum(["McpServer", "Agent"]).optional(),
    mcpServer: mcpServer.optional(),
    agent: z.object(reference).optional(),
    headersFrom: z.array(header).optional(),
    isolateSessions: z.boolean().optional(),
  })
  .meta(
    rules({
      "!(has(self.mcpServer) && self.type != 'McpServer')": "type.mcpServer must be nil if the type is not McpServer",
      "!(!has(self.mcpServer) && self.type == 'McpServer')":
        "type.mcpServer must be specified for McpServer filter.type",
      "!(has(self.agent) && self.type != 'Agent')": "type.agent must be nil if the type is not Agent",
      "!(!has(self.agent) && self.type == 'Agent')": "type.agent must be specified for Agent filter.type",
      "!(has(self.isolateSessions) && self.type != 'Agent')": "isolateSessions can only be set when type is Agent",
    }),
  );

const dataSource = z.object({ name: text, ...optional(text, "kind", "apiGroup", "alias") });
const a2aSkill = z.object({
  name: text.min(1),
  ...optional(text, "id", "description"),
  ...optional(textList.max(20), "tags", "examples"),
  ...optional(textList, "inputModes", "outputModes"),
});
const compaction = z.object({
  compactionInterval: z.int().min(1).default(5),
  overlapSize: z.int().min(0).default(2),
  ...optional(z.int(), "tokenThreshold", "eventRetentionSize"),
  ...optional(z.object(optional(text, "modelConfig", "promptTemplate")), "summarizer"),
});

const declarative = z
  .object({
    runtime: z.enum(["python", "go"]).default("go"),
    ...optional(text, "systemMessage", "modelConfig"),
    ...optional(z.boolean(), "stream", "executeCodeBlocks", "shareTools"),
    systemMessageFrom: valueReference.optional(),
    promptTemplate: z.object({ dataSources: z.array(dataSource).max(20).optional() }).optional(),
    tools: z.array(tool).max(20).optional(),
    a2aConfig: z.object({ skills: z.array(a2aSkill).min(1).optional() }).optional(),
    memory: z.object({ modelConfig: text, ttlDays: z.int().min(1).optional() }).optional(),
    context: z.object({ compaction: compaction.optional() }).optional(),
    deployment: z
      .object({ ...DEPLOYMENT_FIELDS, imageRegistry: text.optional() })
      .meta(DEPLOYMENT_RULES)
      .optional(),
  })
  .meta(
    rules({
      "!has(self.systemMessage) || !has(self.systemMessageFrom)":
        "systemMessage and systemMessageFrom are mutually exclusive",
    }),
  );

const gitReference = z.object({ url: text, ref: text.default("main"), ...optional(text, "path", "name") });
const s3Reference = z.object({ uri: text.min(1).meta({ pattern: "^s3://.+" }), ...optional(text, "region", "name") });
const skills = z.object({
  refs: textList.min(1).max(20).optional(),
  gitRefs: z.array(gitReference).min(1).max(20).optional(),
  s3Refs: z.array(s3Reference).min(1).max(20).optional(),
  gitAuthSecretRef: localReference.optional(),
  imagePullSecrets: z.array(localReference).max(20).optional(),
  insecureSkipVerify: z.boolean().optional(),
  initContainer: z.object({ resources: podPart.optional(), env: namedPodParts.optional() }).optional(),
});

const byoDeployment = z
  .object({
    ...DEPLOYMENT_FIELDS,
    image: text.min(1).optional(),
    ...optional(text, "cmd", "workingDir"),
    ...optional(textList, "args"),
  })
  .meta(DEPLOYMENT_RULES);
const url = text.meta({ format: "uri" });
const spec = z
  .object({
    type: z.enum(["Declarative", "BYO"]).default("Declarative"),
    declarative: declarative.optional(),
    byo: z.object({ deployment: byoDeployment.optional() }).optional(),
    ...optional(text, "description", "version"),
    ...optional(url, "iconUrl", "documentationUrl"),
    provider: z.object({ organization: text.min(1), url }).optional(),
    skills: skills.optional(),
    sandbox: z.object({ network: z.object(optional(textList, "allowedDomains")).optional() }).optional(),
    allowedNamespaces: allowedNamespaces.optional(),
  })
  .meta({
    // The default fills in `type`, so requiring it is safe. Otherwise `spec` would default to {}, which the rules reject.
    required: ["type"],
    ...rules({
      "has(self.type)": "type must be specified",
      "self.type == 'Declarative' || self.type == 'BYO'": "type must be either Declarative or BYO",
      "(self.type == 'Declarative' && has(self.declarative)) || (self.type == 'BYO' && has(self.byo))":
        "declarative must be specified if type is Declarative, or byo must be specified if type is BYO",
    }),
  });

/** An AI agent: declared in the spec, or a container image that the user brings (BYO). */
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
