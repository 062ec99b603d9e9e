import { isNotFound } from "../client/api-error.js";
import type { Client } from "../client/client.js";
import type { Clock } from "../clock/clock.js";
import {
  MutatingWebhookConfiguration,
  ValidatingWebhookConfiguration,
} from "../kinds/builtin/admissionregistration.k8s.io/v1.js";
import { installCrd } from "../kinds/install-crd.js";
import type { Kind } from "../kinds/kind.js";
import type { JsonObject } from "../kinds/object.js";
import { type Mutator, operationsOf, type Validator } from "./admission.js";
import { type App, hasConversion } from "./app.js";
import type { WebhookTarget } from "./webhook-address.js";

export interface InstallOptions {
  /** How a path of the webhook server is named to the API server. */
  readonly target: (path: string) => WebhookTarget;
  readonly caBundle: string;
  readonly clock: Clock;
}

/** The path of an app's webhook: each app has its own, so that several share a server. */
export function webhookPath(app: App, review: "validate" | "mutate" | "convert"): string {
  return `/${app.name}/${review}`;
}

/**
 * Tells the API server of an app: the definitions of its kinds, with their conversion, and its webhooks, server-side
 * applied. A webhook configuration that the app no longer needs is deleted.
 */
export async function installApp(client: Client, app: App, options: InstallOptions): Promise<void> {
  const { target, caBundle, clock } = options;
  await installKinds(client, app, { clock, conversionWebhook: { ...target(webhookPath(app, "convert")), caBundle } });
  for (const [kind, review, handlers] of configurationsOf(app)) {
    if (handlers.length === 0) {
      await uninstall(client, kind, app);
      continue;
    }
    const clientConfig = { ...target(webhookPath(app, review)), caBundle };
    await client.apply(
      kind,
      {
        apiVersion: kind.apiVersion,
        kind: kind.kind,
        metadata: { name: app.name },
        webhooks: handlers.map((handler, at) => webhook(app, handler, at, clientConfig)),
      },
      { fieldManager: `setpoint-${app.name}`, force: true },
    );
  }
}

/** Tells the API server of an app's kinds. Rejects with `CRD_REFUSED`, `CRD_INCOMPATIBLE` or `CRD_NOT_ESTABLISHED`. */
export async function installKinds(
  client: Client,
  app: App,
  {
    clock,
    conversionWebhook,
  }: { readonly clock: Clock; readonly conversionWebhook?: WebhookTarget & { readonly caBundle: string } },
): Promise<void> {
  for (const kind of app.kinds) {
    const crd = kind.crd(conversionWebhook && hasConversion(kind) ? { conversionWebhook } : {});
    await installCrd(client, crd, { clock });
  }
}

/** Takes an app's webhooks away, so that no write waits for a server that is gone. Its kinds stay. */
export async function uninstallWebhooks(client: Client, app: App): Promise<void> {
  for (const [kind, , handlers] of configurationsOf(app)) {
    if (handlers.length > 0) await uninstall(client, kind, app);
  }
}

type Configuration = Kind<ValidatingWebhookConfiguration | MutatingWebhookConfiguration>;

function configurationsOf(
  app: App,
): readonly (readonly [Configuration, "validate" | "mutate", readonly (Validator | Mutator)[]])[] {
  return [
    [ValidatingWebhookConfiguration, "validate", app.validators],
    [MutatingWebhookConfiguration, "mutate", app.mutators],
  ];
}

async function uninstall(client: Client, kind: Configuration, app: App): Promise<void> {
  try {
    await client.delete(kind, app.name);
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

function webhook(app: App, handler: Validator | Mutator, at: number, clientConfig: object): JsonObject {
  const { kind, options } = handler;
  const { subresources = [], failurePolicy = "Fail", sideEffects = "None", timeoutSeconds = 10 } = options;
  const group = kind.group || "core";
  return {
    // Unique within the configuration, and a domain name, as servers ask for.
    name: `${at}.${kind.plural}.${kind.version}.${group}.${app.name}.setpoint.dev`,
    admissionReviewVersions: ["v1"],
    clientConfig: clientConfig as JsonObject,
    failurePolicy,
    sideEffects,
    timeoutSeconds,
    matchPolicy: "Equivalent",
    rules: [
      {
        apiGroups: [kind.group],
        apiVersions: [kind.version],
        resources: [kind.plural, ...subresources.map((subresource) => `${kind.plural}/${subresource}`)],
        operations: operationsOf(handler),
        scope: kind.scope,
      },
    ],
  };
}
