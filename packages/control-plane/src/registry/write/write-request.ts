import type { KubeObject } from "setpoint";
import type { Clock, Random } from "setpoint/clock";
import type { UserInfo } from "../../api/user.js";
import type { ResourceCatalog } from "../../kinds/catalog.js";
import type { ResourceDefinition } from "../../kinds/resource-definition.js";
import type { Storage } from "../../storage/storage.js";
import type { ServedForms } from "../read/served-form.js";
import type { AdmissionPlugin } from "./admission.js";

/** One write of any kind: the user, the target and the options. */
export interface WriteRequest {
  readonly definition: ResourceDefinition;
  /** Empty for the main endpoint. */
  readonly subresource: string;
  /** Empty for cluster-scoped resources. */
  readonly namespace: string;
  readonly user: UserInfo;
  readonly fieldManager: string;
  readonly isDryRun: boolean;
  /** CreateOptions, UpdateOptions, PatchOptions or DeleteOptions, as webhooks receive them. */
  readonly options: Readonly<Record<string, unknown>>;
  /** Throws a 403 unless the user may create the object. An update that creates a missing object calls it. */
  readonly authorizeCreate: () => void;
  readonly warn: (text: string) => void;
  readonly signal: AbortSignal;
  /** For a large body: carries the result of a rehearsal, or records it. */
  readonly proposal?: Proposal;
  /** For long work: resolves once other requests had their turn. */
  readonly pause?: () => Promise<void>;
}

/** The object that a write makes from its body and the stored object, before admission. */
export interface Proposal {
  /** Whether a rehearsal succeeded. */
  readonly hasMade: boolean;
  /** The object already made for this old object, if any. */
  take(old: KubeObject | undefined): KubeObject | undefined;
  /** Records the object that was made. */
  keep(old: KubeObject | undefined, made: KubeObject): void;
  /**
   * Warnings from validating an object returned by `take`. Undefined for any other object, which still needs
   * validation.
   */
  validated(object: KubeObject): readonly string[] | undefined;
}

/** The new object: from the proposal, or else from `make`. */
export function proposed(
  proposal: Proposal | undefined,
  old: KubeObject | undefined,
  make: () => KubeObject,
): KubeObject {
  const taken = proposal?.take(old);
  if (taken !== undefined) return taken;
  const made = make();
  proposal?.keep(old, made);
  return made;
}

/** What every write needs. */
export interface WriteEnvironment {
  readonly storage: Storage;
  readonly clock: Clock;
  readonly random: Random;
  readonly catalog: ResourceCatalog;
  readonly admission: readonly AdmissionPlugin[];
  readonly forms: ServedForms;
}

export function storageKey(namespace: string, name: string): string {
  return namespace === "" ? name : `${namespace}/${name}`;
}
