import type { Clock, Random } from "setpoint/clock";
import { certificateRequestChecks } from "../auth/certificates/certificate-requests.js";
import { escalationCheck } from "../auth/rbac/escalation.js";
import type { RbacAuthorizer } from "../auth/rbac/rbac-authorizer.js";
import type { RoleIndex } from "../auth/rbac/role-index.js";
import type { ResourceCatalog } from "../kinds/catalog.js";
import type { ResourceDefinition } from "../kinds/resource-definition.js";
import type { AdmissionPlugin } from "../registry/write/admission.js";
import type { Storage } from "../storage/storage.js";
import { builtInAdmission } from "./built-in/built-in-admission.js";
import { claimResize } from "./built-in/claim-resize.js";
import { mountableSecrets } from "./built-in/mountable-secrets.js";
import { serviceAddresses } from "./built-in/service-addresses.js";
import { limitRanger } from "./limit-ranger.js";
import { namespaceLifecycle } from "./namespace-lifecycle.js";
import { MutatingPolicyAdmission } from "./policies/mutating-policy-admission.js";
import { PolicyAdmission } from "./policies/policy-admission.js";
import { resourceQuota } from "./resource-quota.js";
import { WebhookAdmission } from "./webhooks/webhook-admission.js";
import { type ServiceResolver, WebhookCaller } from "./webhooks/webhook-caller.js";

export interface DefaultAdmissionOptions {
  readonly storage: Storage;
  readonly clock: Clock;
  readonly random: Random;
  readonly roles: RoleIndex;
  readonly rbac: RbacAuthorizer;
  /** Called for each request, because the catalog may be created after the plugins. */
  readonly catalog: () => ResourceCatalog;
  /** Resolves the Services that webhooks reference. */
  readonly services?: ServiceResolver;
  /** Plugins to disable, by the real server's names. */
  readonly disabled?: readonly string[];
}

/** The admission plugins of every control plane, in the real server's order. */
export class DefaultAdmission implements Disposable {
  readonly plugins: readonly AdmissionPlugin[];
  /** Calls webhooks, including the conversion webhooks of CRDs. */
  readonly caller: WebhookCaller;
  readonly #webhooks: WebhookAdmission;
  readonly #policies: PolicyAdmission;
  readonly #mutatingPolicies: MutatingPolicyAdmission;

  constructor(options: DefaultAdmissionOptions) {
    const { storage, clock, random, roles, rbac, catalog, services } = options;
    this.caller = new WebhookCaller({ clock, ...(services && { services }) });
    const equivalents = (definition: ResourceDefinition) => equivalentsOf(catalog(), definition);
    this.#webhooks = new WebhookAdmission({
      storage,
      clock,
      random,
      caller: this.caller,
      equivalents,
      authorizer: rbac,
    });
    const policyOptions = { storage, authorizer: rbac, catalog, equivalents };
    this.#mutatingPolicies = new MutatingPolicyAdmission(policyOptions);
    this.#policies = new PolicyAdmission(policyOptions);
    const disabled = new Set(options.disabled);
    const plugins = [
      namespaceLifecycle(storage),
      limitRanger(storage),
      builtInAdmission({ storage, clock, random }, disabled),
      mountableSecrets(storage),
      this.#mutatingPolicies.mutatingPlugin,
      this.#webhooks.mutatingPlugin,
      serviceAddresses({ storage, random }),
      escalationCheck(roles, rbac),
      claimResize(storage),
      ...certificateRequestChecks(rbac),
      this.#policies.validatingPlugin,
      this.#webhooks.validatingPlugin,
      resourceQuota(storage),
    ];
    this.plugins = plugins.filter(({ name }) => !disabled.has(name));
  }

  [Symbol.dispose](): void {
    this.#mutatingPolicies[Symbol.dispose]();
    this.#policies[Symbol.dispose]();
    this.#webhooks[Symbol.dispose]();
    this.caller[Symbol.dispose]();
  }
}

/** The other resources that serve the same objects: other versions, or another group with the same storage. */
function equivalentsOf(catalog: ResourceCatalog, definition: ResourceDefinition): readonly ResourceDefinition[] {
  const others: ResourceDefinition[] = [];
  for (const other of catalog.definitions()) {
    if (other !== definition && other.storageId === definition.storageId) others.push(other);
  }
  return others;
}
