import type { Client } from "../client/client.js";
import type { Kind } from "../kinds/kind.js";
import type { KubeObject, NewObject } from "../kinds/object.js";

/** Creates an object unless it exists, for `prepare` of an operator. Leaves an existing object unchanged. */
export async function createMissing<T extends KubeObject>(
  client: Client,
  kind: Kind<T>,
  object: NewObject<T>,
): Promise<void> {
  const { isAlreadyExists } = await import("../client/api-error.js");
  try {
    await client.create(kind, object);
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
}
