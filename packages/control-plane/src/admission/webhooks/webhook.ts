import type { LabelMatcher } from "setpoint/kinds";
import { type ObjectLabelSelector, selectorOf } from "../../registry/selectors/object-label-selector.js";
import type { Change, Storage } from "../../storage/storage.js";
import { MatchConditions } from "../expressions/match-conditions.js";

/** One webhook of a mutating or validating configuration, with defaults applied. */
export interface Webhook {
  readonly name: string;
  readonly clientConfig: WebhookClientConfig;
  readonly rules?: readonly WebhookRule[] | null;
  readonly failurePolicy?: "Fail" | "Ignore";
  readonly matchPolicy?: "Exact" | "Equivalent";
  readonly namespaceSelector?: ObjectLabelSelector | null;
  readonly objectSelector?: ObjectLabelSelector | null;
  readonly matchConditions?: readonly MatchCondition[] | null;
  readonly sideEffects?: "None" | "NoneOnDryRun" | "Some" | "Unknown";
  readonly timeoutSeconds?: number;
  readonly admissionReviewVersions?: readonly string[] | null;
  readonly reinvocationPolicy?: "Never" | "IfNeeded";
}

export interface WebhookClientConfig {
  readonly url?: string | null;
  readonly service?: ServiceReference | null;
  /** PEM in base64. */
  readonly caBundle?: string | null;
}

export interface ServiceReference {
  readonly namespace: string;
  readonly name: string;
  readonly path?: string;
  /** Defaults to 443. */
  readonly port?: number;
}

export interface WebhookRule {
  readonly apiGroups?: readonly string[] | null;
  readonly apiVersions?: readonly string[] | null;
  readonly resources?: readonly string[] | null;
  readonly operations?: readonly string[] | null;
  readonly scope?: "*" | "Namespaced" | "Cluster";
}

export interface MatchCondition {
  readonly name: string;
  /** CEL. */
  readonly expression: string;
}

/** A webhook with compiled selectors and conditions. */
export interface InstalledWebhook {
  /** Unique, even if a configuration has two webhooks of the same name. */
  readonly id: string;
  readonly webhook: Webhook;
  readonly namespaceSelector: LabelMatcher;
  readonly objectSelector: LabelMatcher;
  /** Undefined if there are none. */
  readonly conditions: MatchConditions | undefined;
}

interface WebhookConfiguration {
  readonly metadata: { readonly name: string };
  readonly webhooks?: readonly Webhook[] | null;
}

/**
 * The webhooks of all stored configurations, ordered by the name of the configuration. As current as the storage's
 * published state.
 */
export class InstalledWebhooks implements Disposable {
  readonly #storage: Storage;
  readonly #resource: string;
  readonly #subscription: Disposable;
  #webhooks: readonly InstalledWebhook[] | undefined;

  constructor(storage: Storage, plural: "mutatingwebhookconfigurations" | "validatingwebhookconfigurations") {
    this.#storage = storage;
    this.#resource = `admissionregistration.k8s.io/${plural}`;
    this.#subscription = storage.subscribe(this.#resource, storage.revision, {
      changes: (_changes: readonly Change[]) => {
        this.#webhooks = undefined;
      },
      ended: () => {},
    });
  }

  [Symbol.dispose](): void {
    this.#subscription[Symbol.dispose]();
  }

  get all(): readonly InstalledWebhook[] {
    return (this.#webhooks ??= this.#read());
  }

  #read(): readonly InstalledWebhook[] {
    const configurations = [...(this.#storage.snapshot(this.#resource)?.entries() ?? [])].map(
      ({ object }) => object as unknown as WebhookConfiguration,
    );
    return configurations.flatMap(({ metadata, webhooks }) =>
      (webhooks ?? []).map((webhook, index) => ({
        id: `${metadata.name}/${webhook.name}/${index}`,
        webhook,
        namespaceSelector: selectorOf(webhook.namespaceSelector),
        objectSelector: selectorOf(webhook.objectSelector),
        conditions: webhook.matchConditions?.length ? new MatchConditions(webhook.matchConditions, false) : undefined,
      })),
    );
  }
}
