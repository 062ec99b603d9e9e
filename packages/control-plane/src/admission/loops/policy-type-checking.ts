import type { KubeObject } from "setpoint";
import { changeStatus } from "../../registry/loops/plane-write.js";
import { type LoopEnvironment, type RegistryLoop, WorkLoop } from "../../registry/loops/work-loop.js";
import type { Change } from "../../storage/storage.js";
import type { ValidatingPolicy } from "../policies/policy.js";
import { expressionWarnings } from "../policies/type-checking.js";

const POLICIES = "admissionregistration.k8s.io/validatingadmissionpolicies";
const ACCOUNT = "validatingadmissionpolicy-status-controller";
const MANAGER = "validatingadmissionpolicy-status";

/** Type-checks the expressions of each policy against the kinds that it matches, and writes warnings to its status. */
export class PolicyTypeChecking implements RegistryLoop {
  readonly #environment: LoopEnvironment;
  readonly #loop: WorkLoop;

  constructor(environment: LoopEnvironment) {
    this.#environment = environment;
    this.#loop = new WorkLoop(environment, (key, signal) => this.#check(key, signal));
  }

  onChanges(changes: readonly Change[]): void {
    for (const { type, current } of changes) {
      if (current.resource === POLICIES && type !== "deleted" && isUnchecked(current.object)) {
        this.#loop.add(current.key);
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#loop[Symbol.asyncDispose]();
  }

  async #check(key: string, signal: AbortSignal): Promise<void> {
    const stored = this.#environment.storage.get(POLICIES, key);
    if (stored === undefined || !isUnchecked(stored.object)) return;
    await changeStatus(this.#environment, stored, ACCOUNT, MANAGER, signal, (policy) => {
      const warnings = expressionWarnings(policy as ValidatingPolicy, this.#environment.catalog);
      const typeChecking = warnings.length === 0 ? {} : { expressionWarnings: warnings };
      const status = { observedGeneration: policy.metadata.generation, typeChecking };
      return { ...policy, status } as KubeObject;
    });
  }
}

/** Each generation is checked once. */
function isUnchecked(policy: KubeObject): boolean {
  const { status } = policy as KubeObject & { readonly status?: { readonly observedGeneration?: number } };
  return (policy.metadata.generation ?? 0) > (status?.observedGeneration ?? 0);
}
