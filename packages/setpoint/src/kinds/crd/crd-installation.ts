import { parseDuration } from "../../clock/duration.js";
import { systemClock } from "../../clock/system-clock.js";
import { isSetpointError, SetpointError } from "../../errors/error.js";
import { CustomResourceDefinition } from "../builtin/apiextensions.k8s.io/v1.js";
import { ownField } from "../own-field.js";
import { isSameJson } from "../same-json.js";
import type { CrdManifest } from "./crd.js";
import { type CrdChange, compareCrds } from "./crd-changes.js";
import type { CrdClient, InstallCrdOptions, InstallCrdResult, installCrd } from "./install-crd.js";

const LOOK_AGAIN_MS = 100;

export interface PutCrdOptions extends InstallCrdOptions {
  /** Throws if the installed definition must not be replaced. Called before each write, with the state that it replaces. */
  readonly assertMayReplace?: (installed: CustomResourceDefinition) => void;
}

/** Implements {@link installCrd}, which loads it. */
export async function putCrd(
  client: CrdClient,
  crd: CrdManifest,
  options: PutCrdOptions = {},
): Promise<InstallCrdResult> {
  const result = await write(client, crd, options);
  await untilEstablished(client, crd, options);
  return result;
}

async function write(client: CrdClient, crd: CrdManifest, options: PutCrdOptions): Promise<InstallCrdResult> {
  const call = options.signal ? { signal: options.signal } : {};
  for (;;) {
    const installed = await client.find(CustomResourceDefinition, crd.metadata.name, call);
    try {
      if (!installed) {
        await client.create(CustomResourceDefinition, crd, call);
        return "created";
      }
      if (isInstalled(installed, crd)) return "unchanged";
      options.assertMayReplace?.(installed);
      check(crd, compareCrds(installed, crd), options.allowIncompatible ?? false);
      await client.update(CustomResourceDefinition, replaced(installed, crd), call);
      return "updated";
    } catch (error) {
      // Another client wrote it since we read it: read it again.
      if (!isSetpointError(error, "API_CONFLICT") && !isSetpointError(error, "API_ALREADY_EXISTS")) throw error;
    }
  }
}

function isInstalled(installed: CustomResourceDefinition, crd: CrdManifest): boolean {
  const has = (labels: Readonly<Record<string, string>> | undefined, wanted: Readonly<Record<string, string>> = {}) =>
    Object.entries(wanted).every(([key, value]) => ownField(labels, key) === value);
  const { labels, annotations } = installed.metadata;
  const sameMetadata = has(labels, crd.metadata.labels) && has(annotations, crd.metadata.annotations);
  return sameMetadata && isSameJson(installed.spec, JSON.parse(JSON.stringify(crd.spec)));
}

/** The installed object with our spec; keeps the metadata of others. */
function replaced(installed: CustomResourceDefinition, crd: CrdManifest): CustomResourceDefinition {
  const metadata = {
    ...installed.metadata,
    labels: { ...installed.metadata.labels, ...crd.metadata.labels },
    annotations: { ...installed.metadata.annotations, ...crd.metadata.annotations },
  };
  return { ...installed, metadata, spec: crd.spec };
}

function check(crd: CrdManifest, changes: readonly CrdChange[], allowIncompatible: boolean): void {
  const refused = changes.filter(({ severity }) => severity === "refused");
  const against = refused.length > 0 ? refused : allowIncompatible ? [] : changes;
  if (against.length === 0) return;
  const list = against.map(({ path, message }) => `${path}: ${message}`).join("; ");
  throw new SetpointError(refused.length > 0 ? "CRD_REFUSED" : "CRD_INCOMPATIBLE", `${crd.metadata.name}: ${list}`);
}

async function untilEstablished(client: CrdClient, crd: CrdManifest, options: InstallCrdOptions): Promise<void> {
  const { clock = systemClock, signal } = options;
  const timeoutMs = parseDuration(options.timeout ?? "30s", "timeout");
  const deadline = clock.monotonic() + timeoutMs;
  for (;;) {
    const current = await client.find(CustomResourceDefinition, crd.metadata.name, signal ? { signal } : {});
    const conditions = current?.status?.conditions ?? [];
    const said = (type: string) => conditions.find((condition) => condition.type === type);
    if (said("Established")?.status === "True") return;
    const names = said("NamesAccepted");
    if (names?.status === "False") throw notEstablished(crd, `${names.reason}: ${names.message}`);
    if (clock.monotonic() >= deadline) {
      const seen = conditions.map(({ type, status, message }) => `${type} is ${status} (${message ?? ""})`).join(", ");
      throw notEstablished(
        crd,
        `not established within ${timeoutMs} ms; ${seen || "the server has set no conditions yet"}`,
      );
    }
    await clock.sleep(LOOK_AGAIN_MS, signal);
  }
}

function notEstablished(crd: CrdManifest, why: string): SetpointError {
  return new SetpointError("CRD_NOT_ESTABLISHED", `${crd.metadata.name}: ${why}`);
}
