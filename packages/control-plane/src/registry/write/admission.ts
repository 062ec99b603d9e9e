import type { KubeObject } from "setpoint";
import type { UserInfo } from "../../api/user.js";
import type { ResourceDefinition } from "../../kinds/resource-definition.js";

/** One write as admission sees it. */
export interface AdmissionAttributes {
  readonly operation: "CREATE" | "UPDATE" | "DELETE" | "CONNECT";
  readonly definition: ResourceDefinition;
  /** Empty for the main endpoint. */
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  /** At the version of `definition`. Undefined for DELETE. */
  readonly object: KubeObject | undefined;
  readonly oldObject: KubeObject | undefined;
  /** CreateOptions, UpdateOptions, PatchOptions or DeleteOptions, as webhooks receive them. */
  readonly options: Readonly<Record<string, unknown>>;
  readonly user: UserInfo;
  readonly dryRun: boolean;
  readonly signal: AbortSignal;
}

/**
 * A plugin of the admission chain. Mutating plugins run first, in the chain's order. Then the object is defaulted and
 * validated, and the validating plugins run. A plugin rejects a write by throwing a `StatusError`.
 */
export interface AdmissionPlugin {
  readonly name: string;
  /** Whether the plugin handles a write. Called first, since most plugins handle few kinds. Defaults to always. */
  concerns?(attributes: AdmissionAttributes): boolean;
  /** Returns the object to continue with. */
  mutate?(attributes: AdmissionAttributes, warn: (text: string) => void): Promise<KubeObject | undefined>;
  validate?(attributes: AdmissionAttributes, warn: (text: string) => void): Promise<void>;
}
