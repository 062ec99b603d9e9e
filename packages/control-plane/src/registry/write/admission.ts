import type { KubeObject } from "setpoint";
import type { UserInfo } from "../../api/user.js";
import type { ResourceDefinition } from "../../kinds/resource-definition.js";

/** One write on its way to the storage, as admission sees it. */
export interface AdmissionAttributes {
  readonly operation: "CREATE" | "UPDATE" | "DELETE" | "CONNECT";
  readonly definition: ResourceDefinition;
  /** Empty for the main endpoint. */
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  /** Undefined for DELETE. At the version of `definition`. */
  readonly object: KubeObject | undefined;
  readonly oldObject: KubeObject | undefined;
  /** CreateOptions, UpdateOptions, PatchOptions or DeleteOptions, as the webhook shall see them. */
  readonly options: Readonly<Record<string, unknown>>;
  readonly user: UserInfo;
  readonly dryRun: boolean;
  readonly signal: AbortSignal;
}

/**
 * A plugin of the admission chain. Mutating plugins run first, in the chain's order, then the object is defaulted and
 * validated, then validating plugins run. A refusal is a thrown `StatusError`.
 */
export interface AdmissionPlugin {
  readonly name: string;
  /** Whether it may have anything to say about a write. Asked first, since most concern few kinds; left out: always. */
  concerns?(attributes: AdmissionAttributes): boolean;
  /** Returns the object to go on with. */
  mutate?(attributes: AdmissionAttributes, warn: (text: string) => void): Promise<KubeObject | undefined>;
  validate?(attributes: AdmissionAttributes, warn: (text: string) => void): Promise<void>;
}
