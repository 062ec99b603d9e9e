import type { KubeObject } from "setpoint";
import { unexpected } from "../../api/status-error.js";
import type { ResourceDefinition } from "../../kinds/resource-definition.js";
import type { StoredObject, Write } from "../../storage/storage.js";
import { StorageTooLarge } from "../../storage/storage-error.js";
import type { WriteEnvironment } from "./write-request.js";

/** The request limit of etcd. */
const MAX_BYTES = 1.5 * 2 ** 20;
/** etcd holds built-in kinds as protobuf, which is shorter than JSON because it needs no escapes and base64. */
const MAX_BUILT_IN_BYTES = 2 * MAX_BYTES;

/** Stores an object, within the real server's size limit. */
export async function commit(
  { storage }: WriteEnvironment,
  { isBuiltIn }: ResourceDefinition,
  write: Write & { readonly object: KubeObject },
): Promise<StoredObject> {
  try {
    return await storage.commit({ ...write, maxBytes: isBuiltIn ? MAX_BUILT_IN_BYTES : MAX_BYTES });
  } catch (error) {
    // Clients rely on this text.
    if (error instanceof StorageTooLarge) throw unexpected("etcdserver: request is too large");
    throw error;
  }
}
