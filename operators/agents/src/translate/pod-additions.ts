import { createHash } from "node:crypto";
import { join } from "node:path/posix";
import type { Tls } from "../kinds/parts.js";
import { type Json, type JsonFields, nonEmpty } from "./go-json.js";

/** What models and tool servers add to an agent's pod, in the order of addition. */
export interface PodAdditions {
  readonly env: JsonFields[];
  readonly volumes: JsonFields[];
  readonly mounts: JsonFields[];
}

export const noAdditions = (): PodAdditions => ({ env: [], volumes: [], mounts: [] });

/** Adds missing items. Variables and volumes are identified by name, mounts by name and path. */
export function mergeAdditions(into: PodAdditions, more: PodAdditions): void {
  const add = (list: JsonFields[], items: readonly JsonFields[], isSame: (a: JsonFields, b: JsonFields) => boolean) => {
    for (const item of items) if (!list.some((other) => isSame(other, item))) list.push(item);
  };
  const isSameName = (a: JsonFields, b: JsonFields): boolean => a.name === b.name;
  add(into.env, more.env, isSameName);
  add(into.volumes, more.volumes, isSameName);
  add(into.mounts, more.mounts, (a, b) => isSameName(a, b) && a.mountPath === b.mountPath);
}

export const secretVariable = (name: string, secret: string, key: string): JsonFields => ({
  name,
  valueFrom: { secretKeyRef: { key, name: secret } },
});

/** An environment variable. Go omits an empty value. */
export const variable = (name: string, value: string): JsonFields => ({ name, value: nonEmpty(value) });

export const secretVolume = (name: string, secretName: string, defaultMode?: number): JsonFields => ({
  name,
  secret: { secretName, defaultMode },
});

const READ_ONLY_MODE = 0o444;
const MAX_LABEL = 63;

/** The volume name and mount path for a Secret's CA. Hashes Secret names that do not fit into a volume name. */
function caPaths(secret: string): { readonly volume: string; readonly path: string } {
  const candidate = `tls-ca-${secret}`;
  const isLabel = candidate.length <= MAX_LABEL && /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(candidate);
  const id = isLabel ? secret : createHash("sha256").update(secret).digest("hex").slice(0, 8);
  return { volume: `tls-ca-${id}`, path: join("/etc/ssl/certs/custom", id) };
}

/** The TLS fields of a configuration; none for an empty block. */
export function tlsFields(tls: Tls | undefined): Record<string, Json | undefined> {
  const { disableVerify = false, disableSystemCAs = false, caCertSecretRef = "", caCertSecretKey = "" } = tls ?? {};
  if (!disableVerify && !disableSystemCAs && caCertSecretRef === "" && caCertSecretKey === "") return {};
  const hasCa = caCertSecretRef !== "" && caCertSecretKey !== "";
  return {
    tls_insecure_skip_verify: disableVerify,
    tls_ca_cert_path: hasCa ? join(caPaths(caCertSecretRef).path, caCertSecretKey) : undefined,
    tls_disable_system_cas: disableSystemCAs,
  };
}

/** Mounts the CA, once per Secret. */
export function mountCa(additions: PodAdditions, tls: Tls | undefined): void {
  if (!tls?.caCertSecretRef || !tls.caCertSecretKey) return;
  const { volume, path } = caPaths(tls.caCertSecretRef);
  if (additions.volumes.some(({ name }) => name === volume)) return;
  additions.volumes.push(secretVolume(volume, tls.caCertSecretRef, READ_ONLY_MODE));
  additions.mounts.push({ mountPath: path, name: volume, readOnly: true });
}
