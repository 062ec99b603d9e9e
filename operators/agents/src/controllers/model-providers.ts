import { createHash } from "node:crypto";
import { type Controller, controller, done, type Trigger, waitFor } from "setpoint";
import { formatTime } from "setpoint/kinds";
import { Secret } from "setpoint/kinds/v1";
import { modelListOf } from "../discovery/list-models.js";
import { ModelProviderConfig } from "../kinds/model-provider-config.js";
import { type ModelTarget, type Shared, secretHash, shortened } from "./shared.js";

const TIMEOUT_MS = 30_000;
const KEY_NAMES = ["apiKey", "api-key", "api_key", "API_KEY"];

/** Lists the models of each provider. Lists them again only when the spec or the Secret changes. */
export function modelProviders(shared: Shared): Controller<ModelProviderConfig> {
  return controller(ModelProviderConfig, {
    name: "modelproviderconfigs",
    uses: [Secret],
    ...(shared.namespaces ? { namespaces: shared.namespaces } : {}),
    triggers: [modelsListed(shared)],
    async reconcile({ metadata, spec, status }, ctx) {
      const { namespace = "", name, uid, generation = 0 } = metadata;
      const id = `${namespace}/${name}`;
      const set = (type: string, isTrue: boolean | undefined, reason: string, message: string): void =>
        ctx.condition({ type, status: isTrue === undefined ? "Unknown" : isTrue ? "True" : "False", reason, message });
      ctx.status({ observedGeneration: generation });
      const secretName = spec.secretRef?.name;
      const secret = secretName ? await ctx.find(Secret, secretName) : undefined;
      const data = secret?.data ?? {};
      const keyName = KEY_NAMES.find((each) => data[each] !== undefined) ?? Object.keys(data).sort()[0];
      if (secretName && keyName === undefined) {
        const message = secret
          ? `Secret ${namespace}/${secretName} has no key`
          : `Secret ${namespace}/${secretName} not found`;
        shared.models.forget(id);
        set("SecretResolved", false, "SecretNotFound", message);
        set("ModelsDiscovered", false, "SecretNotFound", message);
        set("Ready", false, "SecretNotFound", message);
        return waitFor("ReferenceMissing", { message });
      }
      set(
        "SecretResolved",
        true,
        "SecretResolved",
        secretName ? `Secret ${namespace}/${secretName} resolved` : "no Secret is needed",
      );
      ctx.status({ secretHash: secretName ? secretHash([{ key: `${namespace}/${secretName}`, data }]) : null });
      const key = keyName === undefined ? "" : Buffer.from(data[keyName]!, "base64").toString("utf8");
      const list = modelListOf(spec.type, spec.endpoint, key);
      if (!list) {
        set("ModelsDiscovered", false, "Unsupported", `models of ${spec.type} cannot be listed`);
        set("Ready", true, "Ready", "the provider can be used");
        return done();
      }
      const question = JSON.stringify([list.url, list.headers]);
      const target: ModelTarget = {
        ...list,
        id,
        uid: uid!,
        generation,
        fingerprint: createHash("sha256").update(question).digest("hex"),
        host: new URL(list.url).host,
        timeoutMs: TIMEOUT_MS,
        intervalMs: undefined,
      };
      shared.models.want(target);
      const result = shared.models.result(target);
      if (result?.type === "answer") {
        const discoveredModels = [...result.answer];
        const isNew = JSON.stringify(status?.discoveredModels) !== JSON.stringify(discoveredModels);
        ctx.status({ discoveredModels, modelCount: discoveredModels.length });
        if (isNew) ctx.status({ lastDiscoveryTime: formatTime(result.at) });
        set("ModelsDiscovered", true, "ModelsDiscovered", `${discoveredModels.length} models discovered`);
        set("Ready", true, "Ready", "the provider can be used");
      } else if (result?.type === "failure") {
        const message = shortened((result.error as Error).message);
        set("ModelsDiscovered", false, "DiscoveryFailed", message);
        set("Ready", false, "DiscoveryFailed", message);
      } else if (status?.observedGeneration !== generation) {
        set("ModelsDiscovered", undefined, "Connecting", "waiting for the provider's answer");
        set("Ready", undefined, "Connecting", "waiting for the provider's answer");
      }
      return done();
    },
  });
}

function modelsListed({ models }: Shared): Trigger {
  return {
    name: "models listed",
    start({ enqueue, signal }) {
      const listening = models.onResult(enqueue);
      signal.addEventListener("abort", () => listening[Symbol.dispose](), { once: true });
    },
  };
}
