import type { Clock, Random } from "setpoint/clock";
import type { UserInfo } from "../../api/user.js";
import type { ResourceCatalog } from "../../kinds/catalog.js";
import type { ResourceDefinition } from "../../kinds/resource-definition.js";
import type { Storage } from "../../storage/storage.js";
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
}

/** What every write needs. */
export interface WriteEnvironment {
  readonly storage: Storage;
  readonly clock: Clock;
  readonly random: Random;
  readonly catalog: ResourceCatalog;
  readonly admission: readonly AdmissionPlugin[];
}

export function storageKey(namespace: string, name: string): string {
  return namespace === "" ? name : `${namespace}/${name}`;
}
