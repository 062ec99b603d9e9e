import type { Clock } from "../../clock/clock.js";
import type { Duration } from "../../clock/duration.js";
import type { Kind } from "../kind.js";
import type { KubeObject, NewObject } from "../object.js";
import type { CrdManifest } from "./crd.js";
import type { compareCrds } from "./crd-changes.js";

/** What {@link installCrd} needs from a client. */
export interface CrdClient {
  find<T extends KubeObject>(kind: Kind<T>, name: string, options?: { signal?: AbortSignal }): Promise<T | undefined>;
  create<T extends KubeObject>(kind: Kind<T>, object: NewObject<T>, options?: { signal?: AbortSignal }): Promise<T>;
  update<T extends KubeObject>(kind: Kind<T>, object: T, options?: { signal?: AbortSignal }): Promise<T>;
}

export interface InstallCrdOptions {
  /** Installs incompatible changes too; `refused` changes stay refused. */
  readonly allowIncompatible?: boolean;
  /** How long to wait until the server serves the kind. Defaults to `"30s"`. */
  readonly timeout?: Duration;
  readonly clock?: Clock;
  readonly signal?: AbortSignal;
}

export type InstallCrdResult = "created" | "updated" | "unchanged";

/**
 * Installs a CustomResourceDefinition, over an existing one only if {@link compareCrds} finds no reason against it, and
 * waits until the server serves it. Rejects with `CRD_REFUSED`, `CRD_INCOMPATIBLE` or `CRD_NOT_ESTABLISHED`; the
 * message names each path. An equal definition costs one request. The code is loaded on the first call, because most
 * processes install none.
 *
 * ```ts
 * await installCrd(client, Website.crd());
 * ```
 */
export async function installCrd(
  client: CrdClient,
  crd: CrdManifest,
  options: InstallCrdOptions = {},
): Promise<InstallCrdResult> {
  const { putCrd } = await import("./crd-installation.js");
  return putCrd(client, crd, options);
}
