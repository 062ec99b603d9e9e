import { type Client, type Duration, isConflict, isSetpointError, SetpointError } from "setpoint";
import { parseDuration, systemClock, timeoutSignal } from "setpoint/clock";
import { type CommandContext, CommandError, UsageError } from "setpoint/command";
import type { UntypedKind, UntypedObject } from "setpoint/kinds";
import { visible } from "../visible.js";
import { connectTo, inNamespace } from "./connection.js";
import { findKindOf } from "./find-kind.js";
import { withoutManagedFields } from "./get.js";
import { type Manifest, readManifests } from "./manifest-file.js";
import { type ObjectPlace, objectName, untilObject } from "./object-wait.js";
import { formatted, outputFormat } from "./output.js";
import { Progress } from "./progress.js";
import { readinessOf } from "./readiness.js";

export const FIELD_MANAGER = "setpoint-cli";

/** How long the kinds of a CRD that was just applied may take to be served. */
const ESTABLISH_MS = 10_000;

interface Applied extends ObjectPlace {
  readonly object: UntypedObject;
}

/** `setpoint apply`: resolves to the exit code. */
export async function runApply(context: CommandContext): Promise<number> {
  const { values, stdin, stdout } = context;
  const format = outputFormat(values.output);
  const timeoutMs = timeoutOf(values.timeout);
  const manifests = await readManifests(filesOf(values.filename), stdin);
  await using client = await connectTo(context);
  const applied: Applied[] = [];
  for (const manifest of manifests) {
    const { change, ...result } = await applyOne(context, client, manifest, manifests);
    applied.push(result);
    if (!format) stdout(`${objectName(result)} ${change}${values["dry-run"] ? " (dry run)" : ""}`);
  }
  if (format) {
    const items = applied.map(({ object }) => withoutManagedFields(object));
    stdout(formatted(items.length === 1 ? items[0] : { apiVersion: "v1", kind: "List", items }, format));
  }
  if (!values.wait || values["dry-run"]) return 0;
  return await waitUntilReady(
    { ...context, ...(format ? { stdout: context.stderr, terminal: undefined } : {}) },
    client,
    applied,
    timeoutMs,
  );
}

async function applyOne(
  { values, signal }: CommandContext,
  client: Client,
  manifest: Manifest,
  all: readonly Manifest[],
): Promise<Applied & { readonly change: "created" | "configured" | "unchanged" }> {
  const kind = await servedKind(client, manifest, all, signal);
  const { name, place } = manifest;
  const namespace = placeOf(manifest, kind, values.namespace as string | undefined, client);
  const metadata = { ...manifest.object.metadata, name, ...inNamespace(namespace) };
  try {
    const before = await client.find(kind, name, inNamespace(namespace));
    const object = await client.apply(
      kind,
      { ...manifest.object, metadata },
      {
        fieldManager: FIELD_MANAGER,
        force: values["force-conflicts"] === true,
        dryRun: values["dry-run"] === true,
        fieldValidation: "Strict",
        signal,
      },
    );
    const isSame = before?.metadata.resourceVersion === object.metadata.resourceVersion;
    return { kind, name, namespace, object, change: before ? (isSame ? "unchanged" : "configured") : "created" };
  } catch (error) {
    if (!isSetpointError(error)) throw error;
    const hint = isConflict(error) ? "\nTo take these fields over, add --force-conflicts." : "";
    throw new SetpointError(error.code as never, `${place}: ${error.message}${hint}`, { cause: error });
  }
}

/** A CRD in the same files may not be served yet: wait for its kind. */
async function servedKind(
  client: Client,
  { apiVersion, kind, place }: Manifest,
  all: readonly Manifest[],
  signal: AbortSignal,
): Promise<UntypedKind> {
  const isDefinedHere = all.some(({ object, kind: each }) => {
    const names = (object.spec as { names?: { kind?: unknown } } | undefined)?.names;
    return each === "CustomResourceDefinition" && names?.kind === kind;
  });
  const end = systemClock.monotonic() + (isDefinedHere ? ESTABLISH_MS : 0);
  for (;;) {
    const found = await findKindOf(client, apiVersion, kind);
    if (found) return found;
    if (systemClock.monotonic() >= end) break;
    await systemClock.sleep(100, signal);
  }
  throw new CommandError(`${place}: the server has no ${apiVersion} ${kind}: is its CRD installed?`);
}

/** The namespace of an object. Throws if file and option disagree. */
export function placeOf(
  { namespace, place, kind: name }: Manifest,
  kind: UntypedKind,
  given: string | undefined,
  client: Client,
): string | undefined {
  if (kind.scope === "Cluster") return undefined;
  if (namespace !== undefined && given !== undefined && namespace !== given) {
    throw new UsageError(`${place}: ${name} has the namespace ${namespace}, but the option -n says ${given}`);
  }
  return namespace ?? given ?? client.namespace;
}

async function waitUntilReady(
  context: CommandContext,
  client: Client,
  applied: readonly Applied[],
  timeoutMs: number,
): Promise<number> {
  const progress = new Progress(context);
  using deadline = timeoutSignal(systemClock, timeoutMs, context.signal);
  const last = new Map(applied.map((each) => [objectName(each), readinessOf(each.object).message]));
  const ends = await Promise.allSettled(
    applied.map((each) => {
      const name = objectName(each);
      return untilObject(
        client,
        each,
        (object) => {
          const readiness = object ? readinessOf(object) : ({ state: "failed", message: "is gone" } as const);
          progress.set(name, readiness);
          if (readiness.state === "ready") last.delete(name);
          else last.set(name, readiness.message);
          return readiness.state !== "progressing";
        },
        deadline.signal,
      );
    }),
  );
  const broken = ends.find((end) => end.status === "rejected");
  if (broken && !deadline.signal.aborted) throw (broken as PromiseRejectedResult).reason;
  if (last.size === 0) return 0;
  const isLate = deadline.signal.aborted;
  context.stderr(isLate ? "setpoint apply: not ready in time:" : "setpoint apply: failed:");
  for (const [name, message] of last) context.stderr(`  ${name}: ${visible(message)}`);
  return 1;
}

export function filesOf(value: unknown): readonly string[] {
  const files = (value ?? []) as readonly string[];
  if (files.length === 0) throw new UsageError("-f FILE is required; -f - reads standard input");
  return files;
}

export function timeoutOf(value: unknown): number {
  try {
    return parseDuration(String(value) as Duration, "--timeout");
  } catch (cause) {
    throw new UsageError((cause as Error).message, { cause });
  }
}
