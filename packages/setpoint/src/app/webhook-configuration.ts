import { isNotFound } from "../client/api-error.js";
import type { Client } from "../client/client.js";
import type { Clock } from "../clock/clock.js";
import {
  MutatingWebhookConfiguration,
  ValidatingWebhookConfiguration,
} from "../kinds/builtin/admissionregistration.k8s.io/v1.js";
import { installCrd } from "../kinds/install-crd.js";
import { type Kind, kindId } from "../kinds/kind.js";
import type { JsonObject } from "../kinds/object.js";
import { type AdmissionOptions, type Mutator, operationsOf, type Validator } from "./admission.js";
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
        webhooks: askedTogether(handlers).map((group, at) => webhook(app, group, at, clientConfig)),
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

type Handler = Validator | Mutator;

function policyOf({ options }: Handler): JsonObject & Required<Omit<AdmissionOptions, "subresources">> {
  const { failurePolicy = "Fail", sideEffects = "None", timeoutSeconds = 10 } = options;
  return { failurePolicy, sideEffects, timeoutSeconds };
}

/** The handlers of one kind that are asked in the same way: one call does for all of them. */
function askedTogether(handlers: readonly Handler[]): readonly (readonly [Handler, ...Handler[]])[] {
  const groups = new Map<string, [Handler, ...Handler[]]>();
  for (const handler of handlers) {
    const id = JSON.stringify([kindId(handler.kind), policyOf(handler)]);
    const group = groups.get(id);
    if (group) group.push(handler);
    else groups.set(id, [handler]);
  }
  return [...groups.values()];
}

function webhook(app: App, handlers: readonly [Handler, ...Handler[]], at: number, clientConfig: object): JsonObject {
  const { kind } = handlers[0];
  const group = kind.group || "core";
  return {
    // Unique within the configuration, and a domain name, as servers ask for.
    name: `${at}.${kind.plural}.${kind.version}.${group}.${app.name}.setpoint.dev`,
    admissionReviewVersions: ["v1"],
    clientConfig: clientConfig as JsonObject,
    ...policyOf(handlers[0]),
    matchPolicy: "Equivalent",
    rules: handlers.map((handler) => ({
      apiGroups: [kind.group],
      apiVersions: [kind.version],
      resources: [kind.plural, ...(handler.options.subresources ?? []).map((name) => `${kind.plural}/${name}`)],
      operations: operationsOf(handler),
      scope: kind.scope,
    })),
  };
}
