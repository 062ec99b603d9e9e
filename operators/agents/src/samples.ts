import type { Client, Kind } from "setpoint";
import { createMissing } from "setpoint/command";
import { CustomResourceDefinition } from "setpoint/kinds/apiextensions.k8s.io/v1";
import { Secret } from "setpoint/kinds/v1";
import { agentKinds } from "./agents-app.js";
import { Agent } from "./kinds/agent.js";
import { ModelConfig } from "./kinds/model-config.js";

/** Installs the kinds that are not there. What somebody else has installed, such as kagent's own CRDs, stays as it is. */
export async function installKinds(client: Client): Promise<void> {
  for (const kind of agentKinds) await createMissing(client, CustomResourceDefinition, kind.crd() as never);
}

const metadata = (name: string) => ({ name, namespace: "default" });

/** Objects to try the operator with. */
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
 * Creates the objects that are not there. They are looked for first: while the webhook of an operator that was killed
 * still stands, even the creation of what is there fails.
 */
export async function installSamples(client: Client): Promise<void> {
  for (const { kind, object } of sampleObjects) {
    const { name, namespace } = (object as { readonly metadata: ReturnType<typeof metadata> }).metadata;
    if (!(await client.find(kind, name, { namespace }))) await client.create(kind, object as never);
  }
}
