import type { StoredObject } from "../../storage/storage.js";
import type { WriteEnvironment } from "../write/write-request.js";
import { removeStored } from "./plane-write.js";

/** Number of concurrent deletes. They share the storage's commits. */
const AT_ONCE = 64;

/** Deletes every object that is not being deleted yet. Returns the objects that still exist. Throws the first error. */
export async function removeAll(
  environment: WriteEnvironment,
  objects: readonly StoredObject[],
  account: string,
  signal: AbortSignal,
): Promise<readonly StoredObject[]> {
  const waiting = objects.filter(({ object }) => object.metadata.deletionTimestamp === undefined);
  for (let start = 0; start < waiting.length; start += AT_ONCE) {
    const batch = waiting.slice(start, start + AT_ONCE);
    const removals = batch.map((stored) => removeStored(environment, stored, account, "Background", signal));
    const refused = (await Promise.allSettled(removals)).find(({ status }) => status === "rejected");
    if (refused?.status === "rejected") throw refused.reason;
    // Yield to other work: writes to an in-memory storage never leave the event loop.
    await environment.clock.sleep(0, signal);
  }
  return objects.flatMap(({ resource, key }) => environment.storage.get(resource, key) ?? []);
}
