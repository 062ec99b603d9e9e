import type { Client } from "setpoint";
import { isExpired } from "setpoint/client";
import type { UntypedKind, UntypedObject } from "setpoint/kinds";
import { inNamespace } from "./connection.js";

/** One object on a server. */
export interface ObjectPlace {
  readonly kind: UntypedKind;
  readonly name: string;
  readonly namespace: string | undefined;
}

/**
 * Calls `look` with the object now and at every change, until it returns true; undefined if the object does not exist.
 * Rejects with the signal's reason when that is aborted.
 */
export async function untilObject(
  client: Client,
  { kind, name, namespace }: ObjectPlace,
  look: (object: UntypedObject | undefined) => boolean,
  signal: AbortSignal,
): Promise<void> {
  // List items lack kind and apiVersion.
  const lookAt = (object: UntypedObject | undefined): boolean =>
    look(object && { ...object, apiVersion: kind.apiVersion, kind: kind.kind });
  const scope = { ...inNamespace(namespace), fieldSelector: `metadata.name=${name}`, signal };
  try {
    for (;;) {
      const { items, resourceVersion } = await client.list(kind, scope);
      if (lookAt(items[0]) || (await sawIt(client, kind, { ...scope, resourceVersion }, lookAt))) return;
    }
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  }
}

/** One watch; false if it ended early. */
async function sawIt(
  client: Client,
  kind: UntypedKind,
  options: Parameters<Client["watch"]>[1],
  look: (object: UntypedObject | undefined) => boolean,
): Promise<boolean> {
  try {
    for await (const event of client.watch(kind, options)) {
      if (event.type !== "BOOKMARK" && look(event.type === "DELETED" ? undefined : event.object)) return true;
    }
  } catch (error) {
    if (!isExpired(error)) throw error;
  }
  return false;
}

/** `namespace/shop`, `deployment.apps/web`: as kubectl calls objects. */
export function objectName({ kind, name }: Pick<ObjectPlace, "kind" | "name">): string {
  const group = kind.group === "" ? "" : `.${kind.group}`;
  return `${kind.kind.toLowerCase()}${group}/${name}`;
}
