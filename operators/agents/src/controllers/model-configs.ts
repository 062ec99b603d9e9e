import { type Controller, controller, done, requeueAfter, scoped, terminal, waitFor } from "setpoint";
import { ConfigMap, Secret } from "setpoint/kinds/v1";
import { invalidSpec } from "../errors.js";
import { Agent } from "../kinds/agent.js";
import { ModelConfig } from "../kinds/model-config.js";
import { describeProblems, modelProblems } from "../spec-problems.js";
import { type Shared, secretHash } from "./shared.js";
import { modelsOf } from "./usage.js";

/** Checks the references of ModelConfigs, and hashes their Secrets so that agents roll when one changes. */
export function modelConfigs(shared: Pick<Shared, "namespaces" | "usage">): Controller<ModelConfig> {
  return controller(ModelConfig, {
    name: "modelconfigs",
    uses: [Secret, ConfigMap, scoped(Agent, { indexes: { models: modelsOf } })],
    ...(shared.namespaces ? { namespaces: shared.namespaces } : {}),
    async reconcile(model, ctx) {
      const { spec, metadata, status } = model;
      const { namespace = "" } = metadata;
      const missing: string[] = [];
      const secrets: { key: string; data: Readonly<Record<string, string>> }[] = [];
      const read = async (name: string | undefined, key: string | undefined): Promise<void> => {
        if (!name) return;
        const secret = await ctx.find(Secret, name);
        if (!secret) missing.push(`Secret ${namespace}/${name} not found`);
        else {
          if (!secrets.some((other) => other.key === `${namespace}/${name}`)) {
            secrets.push({ key: `${namespace}/${name}`, data: secret.data ?? {} });
          }
          if (key && secret.data?.[key] === undefined) missing.push(`Secret ${namespace}/${name} has no key "${key}"`);
        }
      };
      await read(spec.apiKeySecret, spec.apiKeySecretKey);
      await read(spec.tls?.caCertSecretRef, spec.tls?.caCertSecretKey);
      const endpoint = spec.foundry?.endpointFrom;
      if (endpoint) {
        const map = await ctx.find(ConfigMap, endpoint.name);
        if (map?.data?.[endpoint.key] === undefined && !endpoint.optional) {
          missing.push(`ConfigMap ${namespace}/${endpoint.name} has no key "${endpoint.key}"`);
        }
      }
      const users = (await ctx.byIndex(Agent, { models: `${namespace}/${metadata.name}` })).length;
      ctx.status({ observedGeneration: metadata.generation ?? 0, secretHash: secretHash(secrets) });
      // The published CRD lacks usedBy and drops it. Skip it there, or every run would write it again.
      const usage = shared.usage.next(`ModelConfig ${namespace}/${metadata.name}`, status?.usedBy, users);
      if (status === undefined || status.usedBy !== undefined) ctx.status({ usedBy: usage.count });
      const problems = describeProblems(modelProblems(model));
      const reject = (reason: string, message: string): void =>
        ctx.condition({ type: "Accepted", status: "False", reason, message });
      if (problems !== "") {
        reject("InvalidSpec", problems);
        return terminal(invalidSpec(problems));
      }
      if (missing.length > 0) {
        reject("ModelConfigReconcileFailed", missing.join("; "));
        return waitFor("ReferenceMissing", { message: missing.join("; ") });
      }
      const message = "Model configuration accepted";
      ctx.condition({ type: "Accepted", status: "True", reason: "ModelConfigReconciled", message });
      return usage.againMs === undefined ? done() : requeueAfter(usage.againMs);
    },
  });
}
