import type { KubeObject } from "setpoint";
import { unexpected } from "../../api/status-error.js";
import type { ResourceDefinition } from "../../kinds/resource-definition.js";
import type { StoredObject, Write } from "../../storage/storage.js";
import { StorageTooLarge } from "../../storage/storage-error.js";
import type { WriteEnvironment } from "./write-request.js";

/** What etcd takes in one request. */
const MAX_BYTES = 1.5 * 2 ** 20;
/** Built-in kinds are kept as protobuf there, which is shorter than JSON by its escapes and base64. */
const MAX_BUILT_IN_BYTES = 2 * MAX_BYTES;

/** Stores an object, within the size that the real server's storage takes. */
export async function commit(
  { storage }: WriteEnvironment,
  { isBuiltIn }: ResourceDefinition,
  write: Write & { readonly object: KubeObject },
): Promise<StoredObject> {
  try {
    return await storage.commit({ ...write, maxBytes: isBuiltIn ? MAX_BUILT_IN_BYTES : MAX_BYTES });
  } catch (error) {
    // Clients know this text.
    if (error instanceof StorageTooLarge) throw unexpected("etcdserver: request is too large");
    throw error;
  }
}
