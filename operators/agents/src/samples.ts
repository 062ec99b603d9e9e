import type { Client, Kind } from "setpoint";
import { createMissing } from "setpoint/command";
import { CustomResourceDefinition } from "setpoint/kinds/apiextensions.k8s.io/v1";
import { Secret } from "setpoint/kinds/v1";
import { agentKinds } from "./agents-app.js";
import { Agent } from "./kinds/agent.js";
import { ModelConfig } from "./kinds/model-config.js";

/** Creates missing CRDs. Leaves existing ones, such as kagent's own, unchanged. */
export async function installKinds(client: Client): Promise<void> {
  for (const kind of agentKinds) await createMissing(client, CustomResourceDefinition, kind.crd() as never);
}

const metadata = (name: string) => ({ name, namespace: "default" });

/** Sample objects. */
export const sampleObjects: readonly { readonly kind: Kind; readonly object: object }[] = [
  { kind: Secret, object: { metadata: metadata("openai"), stringData: { "api-key": "put-your-key-here" } } },
  {
    kind: ModelConfig,
    object: {
      metadata: metadata("openai"),
      spec: { provider: "OpenAI", model: "gpt-4o", apiKeySecret: "openai", apiKeySecretKey: "api-key" },
    },
  },
  {
    kind: Agent,
    object: {
      metadata: metadata("hello"),
      spec: {
        type: "Declarative",
        declarative: { modelConfig: "openai", systemMessage: "You are a friendly assistant." },
      },
    },
  },
];

/**
 * Creates missing sample objects. Reads each one first: while the webhook of a killed operator is still registered,
 * even the create of an existing object fails.
 */
export async function installSamples(client: Client): Promise<void> {
  for (const { kind, object } of sampleObjects) {
    const { name, namespace } = (object as { readonly metadata: ReturnType<typeof metadata> }).metadata;
    if (!(await client.find(kind, name, { namespace }))) await client.create(kind, object as never);
  }
}
