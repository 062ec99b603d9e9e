import { Buffer } from "node:buffer";
import { isConflict, isForbidden, isNotFound } from "../../client/api-error.js";
import type { Client } from "../../client/client.js";
import type { Clock } from "../../clock/clock.js";
import { SetpointError } from "../../errors/error.js";
import {
  MutatingWebhookConfiguration,
  ValidatingWebhookConfiguration,
} from "../../kinds/builtin/admissionregistration.k8s.io/v1.js";
import { CustomResourceDefinition } from "../../kinds/builtin/apiextensions.k8s.io/v1.js";
import { putCrd } from "../../kinds/crd/crd-installation.js";
import type { Kind } from "../../kinds/kind.js";
import type { JsonObject, KubeObject } from "../../kinds/object.js";
import { ownField } from "../../kinds/own-field.js";
import { type Mutator, operationsOf, type Validator } from "../admission.js";
import { type App, hasConversion } from "../app.js";
import { askedTogether, policyId, policyOf } from "./admission-policy.js";
import type { WebhookTarget } from "./webhook-address.js";
import { INSTALLED_BY, isOwn } from "./webhook-owner.js";

export interface InstallOptions {
  /** How a path of the webhook server is named to the API server. */
  readonly target: (path: string) => WebhookTarget;
  /** The CA that the API server must trust, base64 of PEM; without it, the CAs that it trusts anyway. */
  readonly caBundle?: string;
  /** The owner to record: see {@link INSTALLED_BY}. */
  readonly owner: string;
  readonly clock: Clock;
  /** Called for a kind that this account may not install and the app does not convert: someone else installs it. */
  readonly onForbidden: (kind: Kind, error: unknown) => void;
}

/** The path of an app's webhook. Each app has its own, so that several apps share a server, and so does each policy. */
export function webhookPath(app: App, review: "validate" | "mutate" | "convert", policy = ""): string {
  return `/${app.name}/${review}${policy && `/${policy}`}`;
}

/** Installs an app on the API server: the definitions of its kinds with their conversion, and its webhooks. */
export async function installApp(client: Client, app: App, options: InstallOptions): Promise<void> {
  // Check before any write: an instance that is refused must not redirect the conversion of the other one.
  await assertFree(client, app, options);
  await installConversion(client, app, options);
  await installWebhooks(client, app, options);
}

/** Installs an app's kinds and, where needed, their conversion. See {@link installKinds}. */
export function installConversion(client: Client, app: App, options: InstallOptions): Promise<void> {
  return installKinds(client, app, { ...options, conversionWebhook: clientConfigOf(app, "convert", options) });
}

export interface InstallKindsOptions extends Pick<InstallOptions, "clock" | "onForbidden"> {
  /** The owner of the conversion, recorded on the definitions of converted kinds. */
  readonly owner?: string;
  readonly conversionWebhook?: WebhookTarget & { readonly caBundle?: string };
}

/** Rejects with `WEBHOOK_TAKEN` if webhooks or conversions of the app have another owner. */
async function assertFree(client: Client, app: App, { owner }: InstallOptions): Promise<void> {
  for (const { kind, handlers } of configurationsOf(app)) {
    const known = handlers.length > 0 ? await client.find(kind, app.name) : undefined;
    if (known) assertOwn(app, kind, known, owner);
  }
  for (const { plural, group } of app.kinds.filter(hasConversion)) {
    const known = await findReadable(client, `${plural}.${group}`);
    if (known) assertOwnConversion(app, known, owner);
  }
}

/** Undefined also if the account may not get it: it may not install either, and the installation reports that. */
async function findReadable(client: Client, name: string): Promise<CustomResourceDefinition | undefined> {
  try {
    return await client.find(CustomResourceDefinition, name);
  } catch (error) {
    if (!isForbidden(error)) throw error;
    return undefined;
  }
}

function assertOwn(app: App, kind: Kind, known: KubeObject, owner: string): void {
  const mark = ownField(known.metadata.annotations, INSTALLED_BY);
  if (isOwn(mark, owner)) return;
  throw new SetpointError(
    "WEBHOOK_TAKEN",
    `app ${app.name}: the ${kind.kind} ${known.metadata.name} is ${mark ? `of ${mark}` : `of another owner: it has no ${INSTALLED_BY}`}, ` +
      `not of ${owner}`,
  );
}

/** A conversion without a mark may be taken over: its definition came from a file, or from an older version. */
function assertOwnConversion(app: App, known: CustomResourceDefinition, owner: string): void {
  const isMarked = ownField(known.metadata.annotations, INSTALLED_BY) !== undefined;
  if (isMarked && known.spec.conversion?.strategy === "Webhook") assertOwn(app, CustomResourceDefinition, known, owner);
}

/** Removes the owner's mark from the CRDs of an app, so that the next process may convert. Their conversion stays. */
export async function releaseConversion(client: Client, app: App, { owner }: InstallOptions): Promise<void> {
  for (const { plural, group } of app.kinds.filter(hasConversion)) {
    const known = await findReadable(client, `${plural}.${group}`);
    if (!known || ownField(known.metadata.annotations, INSTALLED_BY) !== owner) continue;
    const { [INSTALLED_BY]: _mark, ...annotations } = known.metadata.annotations ?? {};
    try {
      await client.update(CustomResourceDefinition, { ...known, metadata: { ...known.metadata, annotations } });
    } catch (error) {
      // Another client wrote or deleted it since.
      if (!isConflict(error) && !isNotFound(error)) throw error;
    }
  }
}

/**
 * Installs an app's kinds. Rejects with `CRD_REFUSED`, `CRD_INCOMPATIBLE` or `CRD_NOT_ESTABLISHED`, and if this account
 * may not install a kind that it converts.
 */
export async function installKinds(client: Client, app: App, options: InstallKindsOptions): Promise<void> {
  const { clock, conversionWebhook, owner, onForbidden } = options;
  for (const kind of app.kinds) {
    const isConverted = hasConversion(kind);
    try {
      if (conversionWebhook && isConverted && owner !== undefined) {
        const crd = kind.crd({ conversionWebhook });
        const annotations = { ...crd.metadata.annotations, [INSTALLED_BY]: owner };
        const assertMayReplace = (known: CustomResourceDefinition): void => assertOwnConversion(app, known, owner);
        await putCrd(client, { ...crd, metadata: { ...crd.metadata, annotations } }, { clock, assertMayReplace });
      } else {
        await putCrd(client, kind.crd(), { clock });
      }
    } catch (error) {
      if (isConverted || !isForbidden(error)) throw error;
      onForbidden(kind, error);
    }
  }
}

/**
 * Server-side applies an app's webhooks, and deletes an own configuration that it no longer needs. If one cannot be
 * installed, deletes those that this call created. Rejects with `WEBHOOK_TAKEN` if another owner has installed one.
 */
export async function installWebhooks(client: Client, app: App, options: InstallOptions): Promise<void> {
  const made: Configuration[] = [];
  try {
    for (const configuration of configurationsOf(app)) {
      if (configuration.handlers.length === 0) await tidy(client, app, configuration, options);
      else if (await install(client, app, configuration, options)) made.push(configuration);
    }
  } catch (error) {
    for (const configuration of made) await uninstall(client, app, configuration, options).catch(() => {});
    throw error;
  }
}

/**
 * Removes an app's webhooks, so that no write waits for a server that is gone. Leaves its kinds, and webhooks that have
 * another owner or address by now.
 */
export async function uninstallWebhooks(client: Client, app: App, options: InstallOptions): Promise<void> {
  for (const configuration of configurationsOf(app)) {
    if (configuration.handlers.length > 0) await uninstall(client, app, configuration, options, true);
  }
}

/** The CAs that API servers trust for an app, as PEM; empty if there are none or this account may not read them. */
export async function installedAuthorities(client: Client, app: App): Promise<string> {
  try {
    const found = await Promise.all(configurationsOf(app).map(({ kind }) => client.find(kind, app.name)));
    const definitions = await Promise.all(
      app.kinds
        .filter(hasConversion)
        .map(({ plural, group }) => client.find(CustomResourceDefinition, `${plural}.${group}`)),
    );
    const configs = [
      ...found.flatMap((each) => each?.webhooks ?? []).map(({ clientConfig }) => clientConfig),
      ...definitions.map((each) => each?.spec.conversion?.webhook?.clientConfig),
    ];
    return configs.map((config) => Buffer.from(config?.caBundle ?? "", "base64").toString("utf8")).join("\n");
  } catch (error) {
    if (isForbidden(error)) return "";
    throw error;
  }
}

interface Configuration {
  readonly kind: Kind<ValidatingWebhookConfiguration | MutatingWebhookConfiguration>;
  readonly review: "validate" | "mutate";
  readonly handlers: readonly Handler[];
}

type Handler = Validator | Mutator;

function configurationsOf(app: App): readonly Configuration[] {
  return [
    { kind: ValidatingWebhookConfiguration, review: "validate", handlers: app.validators },
    { kind: MutatingWebhookConfiguration, review: "mutate", handlers: app.mutators },
  ];
}

/** Returns whether it created the configuration. */
async function install(
  client: Client,
  app: App,
  { kind, review, handlers }: Configuration,
  options: InstallOptions,
): Promise<boolean> {
  const known = await client.find(kind, app.name);
  if (known) assertOwn(app, kind, known, options.owner);
  await client.apply(
    kind,
    {
      apiVersion: kind.apiVersion,
      kind: kind.kind,
      metadata: { name: app.name, annotations: { [INSTALLED_BY]: options.owner } },
      webhooks: askedTogether(handlers).map((group, at) =>
        webhook(app, group, at, clientConfigOf(app, review, options, policyId(group[0]))),
      ),
    },
    { fieldManager: `setpoint-${app.name}`, force: true },
  );
  return known === undefined;
}

/** An account that may not read a configuration has never installed one. */
async function tidy(client: Client, app: App, configuration: Configuration, options: InstallOptions): Promise<void> {
  try {
    await uninstall(client, app, configuration, options);
  } catch (error) {
    if (!isForbidden(error)) throw error;
  }
}

async function uninstall(
  client: Client,
  app: App,
  { kind }: Configuration,
  { owner, target }: InstallOptions,
  onlyIfHere = false,
): Promise<void> {
  for (;;) {
    const known = await client.find(kind, app.name);
    if (!known || !isOwn(ownField(known.metadata.annotations, INSTALLED_BY), owner)) return;
    if (onlyIfHere && !known.webhooks?.some(({ clientConfig }) => leadsTo(target("/"), clientConfig))) return;
    try {
      const { uid, resourceVersion } = known.metadata;
      await client.delete(kind, app.name, { preconditions: { uid, resourceVersion } });
      return;
    } catch (error) {
      if (isNotFound(error)) return;
      // Another client changed it since we read it: read it again.
      if (!isConflict(error)) throw error;
    }
  }
}

function leadsTo({ url, service }: WebhookTarget, installed: WebhookTarget | object): boolean {
  const there = installed as WebhookTarget;
  if (url !== undefined) return there.url?.startsWith(url) ?? false;
  return there.service?.namespace === service?.namespace && there.service?.name === service?.name;
}

function clientConfigOf(
  app: App,
  review: "validate" | "mutate" | "convert",
  { target, caBundle }: InstallOptions,
  policy = "",
): WebhookTarget & { readonly caBundle?: string } {
  return { ...target(webhookPath(app, review, policy)), ...(caBundle === undefined ? {} : { caBundle }) };
}

function webhook(app: App, handlers: readonly [Handler, ...Handler[]], at: number, clientConfig: object): JsonObject {
  const { kind } = handlers[0];
  const group = kind.group || "core";
  return {
    // Servers want it to be a domain name, unique within the configuration.
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
