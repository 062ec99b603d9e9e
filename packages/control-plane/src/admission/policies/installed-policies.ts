import type { KubeObject } from "setpoint";
import type { Storage } from "../../storage/storage.js";
import { type CompiledBasis, type CompiledMatch, compileMatch, type PolicyBinding } from "./policy.js";

/** A compiled policy with its bindings. */
export type InstalledPolicy<Compiled> = Compiled & {
  readonly bindings: readonly { readonly binding: PolicyBinding; readonly match: CompiledMatch }[];
};

/** The stored policies that have a binding. As current as the storage's published state. */
export class InstalledPolicies<Policy extends KubeObject, Compiled extends CompiledBasis> implements Disposable {
  readonly #storage: Storage;
  readonly #type: "validating" | "mutating";
  readonly #compile: (policy: Policy) => Compiled;
  readonly #subscriptions: readonly Disposable[];
  #policies: readonly InstalledPolicy<Compiled>[] | undefined;

  constructor(storage: Storage, type: "validating" | "mutating", compile: (policy: Policy) => Compiled) {
    this.#storage = storage;
    this.#type = type;
    this.#compile = compile;
    const forget = (): void => {
      this.#policies = undefined;
    };
    this.#subscriptions = [this.#resource("policies"), this.#resource("policybindings")].map((resource) =>
      storage.subscribe(resource, storage.revision, { changes: forget, ended: () => {} }),
    );
  }

  [Symbol.dispose](): void {
    for (const subscription of this.#subscriptions) subscription[Symbol.dispose]();
  }

  get all(): readonly InstalledPolicy<Compiled>[] {
    return (this.#policies ??= this.#read());
  }

  #resource(part: "policies" | "policybindings"): string {
    return `admissionregistration.k8s.io/${this.#type}admission${part}`;
  }

  #read(): readonly InstalledPolicy<Compiled>[] {
    const bindings = this.#objects<PolicyBinding>(this.#resource("policybindings"));
    return this.#objects<Policy>(this.#resource("policies")).flatMap((policy) => {
      const own = bindings.filter(({ spec }) => spec.policyName === policy.metadata.name);
      if (own.length === 0) return [];
      const bound = own.map((binding) => ({
        binding,
        match: compileMatch(binding.metadata.name, binding.spec.matchResources),
      }));
      return [{ ...this.#compile(policy), bindings: bound }];
    });
  }

  #objects<Kind>(resource: string): readonly Kind[] {
    const entries = this.#storage.snapshot(resource)?.entries() ?? [];
    return [...entries].map(({ object }) => object as unknown as Kind);
  }
}
