import type { Random } from "setpoint/clock";
import type { ConversionMaker } from "../../registry/crd/crd-installer.js";
import { webhookConversion } from "./conversion-webhook.js";
import type { WebhookClientConfig } from "./webhook.js";
import type { WebhookCaller } from "./webhook-caller.js";

/** Converts the objects of CRDs whose conversion strategy is `Webhook`. */
export function crdConversion(caller: WebhookCaller, random: Random): ConversionMaker {
  return ({ spec }, version) => {
    const { strategy, webhook } = spec.conversion ?? {};
    if (strategy !== "Webhook" || !webhook?.clientConfig) return undefined;
    const stored = spec.versions.find(({ storage }) => storage)!;
    return webhookConversion({
      caller,
      random,
      clientConfig: webhook.clientConfig as WebhookClientConfig,
      reviewVersions: webhook.conversionReviewVersions ?? [],
      servedApiVersion: `${spec.group}/${version}`,
      storedApiVersion: `${spec.group}/${stored.name}`,
    });
  };
}
