import type { KubeObject } from "setpoint";
import type { Clock, Random } from "setpoint/clock";
import type { UserInfo } from "../../api/user.js";
import type { ResourceCatalog } from "../../kinds/catalog.js";
import type { ResourceDefinition } from "../../kinds/resource-definition.js";
import type { Storage } from "../../storage/storage.js";
import type { ServedForms } from "../read/served-form.js";
import type { AdmissionPlugin } from "./admission.js";

/** Who writes what where, and how. The same for every kind of write. */
export interface WriteRequest {
  readonly definition: ResourceDefinition;
  /** Empty for the main endpoint. */
  readonly subresource: string;
  /** Empty for cluster-scoped resources. */
  readonly namespace: string;
  readonly user: UserInfo;
  readonly fieldManager: string;
  readonly isDryRun: boolean;
  /** CreateOptions, UpdateOptions, PatchOptions or DeleteOptions, as webhooks see them. */
  readonly options: Readonly<Record<string, unknown>>;
  /** Throws a 403 unless the user may make the object. An update that turns out to be a create has to ask. */
  readonly authorizeCreate: () => void;
  readonly warn: (text: string) => void;
  readonly signal: AbortSignal;
  /** Of a write whose body is large: what a rehearsal made of it, or is to be told. */
  readonly proposal?: Proposal;
  /** Of a write whose work takes long: resolves when it may go on, once others had their turn. */
  readonly pause?: () => Promise<void>;
}

/** What a write makes of its body and of the object that is there, before admission. */
export interface Proposal {
  /** Whether a rehearsal has gone well. */
  readonly hasMade: boolean;
  /** What was made for this old object already. */
  take(old: KubeObject | undefined): KubeObject | undefined;
  /** Is told what was made. */
  keep(old: KubeObject | undefined, made: KubeObject): void;
  /** What the validation of an object that was taken has warned of; undefined for any other, which is still to be validated. */
  validated(object: KubeObject): readonly string[] | undefined;
}

/** What a write makes of an old object: as the proposal has it, or by `make`. */
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
