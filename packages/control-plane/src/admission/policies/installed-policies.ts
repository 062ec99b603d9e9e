import type { Storage } from "../../storage/storage.js";
import {
  type CompiledMatch,
  type CompiledPolicy,
  compileMatch,
  compilePolicy,
  type PolicyBinding,
  type ValidatingPolicy,
} from "./policy.js";

const POLICIES = "admissionregistration.k8s.io/validatingadmissionpolicies";
const BINDINGS = "admissionregistration.k8s.io/validatingadmissionpolicybindings";

/** A policy with the bindings that put it to work. */
export interface InstalledPolicy extends CompiledPolicy {
  readonly bindings: readonly { readonly binding: PolicyBinding; readonly match: CompiledMatch }[];
}

/** The policies in the storage that have a binding; as new as the published state. */
export class InstalledPolicies implements Disposable {
  readonly #storage: Storage;
  readonly #subscriptions: readonly Disposable[];
  #policies: readonly InstalledPolicy[] | undefined;

  constructor(storage: Storage) {
    this.#storage = storage;
    const forget = (): void => {
      this.#policies = undefined;
    };
    this.#subscriptions = [POLICIES, BINDINGS].map((resource) =>
      storage.subscribe(resource, storage.revision, { changes: forget, ended: () => {} }),
    );
  }

  [Symbol.dispose](): void {
    for (const subscription of this.#subscriptions) subscription[Symbol.dispose]();
  }

  get all(): readonly InstalledPolicy[] {
    return (this.#policies ??= this.#read());
  }

  #read(): readonly InstalledPolicy[] {
    const bindings = this.#objects<PolicyBinding>(BINDINGS);
    return this.#objects<ValidatingPolicy>(POLICIES).flatMap((policy) => {
      const own = bindings.filter(({ spec }) => spec.policyName === policy.metadata.name);
      if (own.length === 0) return [];
      const bound = own.map((binding) => ({
        binding,
        match: compileMatch(binding.metadata.name, binding.spec.matchResources),
      }));
      return [{ ...compilePolicy(policy), bindings: bound }];
    });
  }

  #objects<Kind>(resource: string): readonly Kind[] {
    const entries = this.#storage.snapshot(resource)?.entries() ?? [];
    return [...entries].map(({ object }) => object as unknown as Kind);
  }
}
