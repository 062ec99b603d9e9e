import { type Client, isNotFound } from "setpoint";
import { systemClock, timeoutSignal } from "setpoint/clock";
import { type CommandContext, UsageError } from "setpoint/command";
import type { UntypedObject } from "setpoint/kinds";
import { visible } from "../visible.js";
import { filesOf, placeOf, timeoutOf } from "./apply.js";
import { connectTo, inNamespace, namespaceOf } from "./connection.js";
import { findKind, findKindOf, kindAndNames } from "./find-kind.js";
import { readManifests } from "./manifest-file.js";
import { type ObjectPlace, objectName, untilObject } from "./object-wait.js";
import { formatted, outputFormat } from "./output.js";

interface Deletion {
  readonly object: string;
  readonly namespace?: string;
  readonly result: "deleted" | "not found";
}

/** `setpoint delete`: resolves to the exit code. */
export async function runDelete(context: CommandContext): Promise<number> {
  const { values, stdout, stderr } = context;
  const format = outputFormat(values.output);
  const timeoutMs = timeoutOf(values.timeout);
  await using client = await connectTo(context);
  const places = await placesOf(context, client);
  const results: Deletion[] = [];
  const held = new Map<ObjectPlace, string>();
  for (const place of places) {
    const { result, rest } = await deleteOne(client, place);
    results.push({ object: objectName(place), ...inNamespace(place.namespace), result });
    if (rest) held.set(place, whyHeld(rest));
    if (result === "deleted" && !format) stdout(`${objectName(place)} deleted`);
    if (result === "not found" && !values["ignore-not-found"]) stderr(`${objectName(place)} not found`);
  }
  if (format) stdout(formatted(results, format));
  if (values.wait && !(await untilGone(context, client, held, timeoutMs))) return 1;
  return results.every(({ result }) => result === "deleted") || values["ignore-not-found"] ? 0 : 1;
}

/** `rest` has objects that still exist: they terminate gracefully, or finalizers keep them. */
async function deleteOne(
  client: Client,
  { kind, name, namespace }: ObjectPlace,
): Promise<{ readonly result: Deletion["result"]; readonly rest?: UntypedObject }> {
  try {
    const rest = await client.delete(kind, name, { ...inNamespace(namespace), propagation: "Background" });
    return { result: "deleted", ...(rest ? { rest } : {}) };
  } catch (error) {
    if (isNotFound(error)) return { result: "not found" };
    throw error;
  }
}

/** In reverse order of the files: later objects may depend on earlier ones. */
async function placesOf({ values, positionals, stdin }: CommandContext, client: Client): Promise<ObjectPlace[]> {
  const given = values.namespace as string | undefined;
  if (values.filename === undefined) {
    const { kind: word, names } = kindAndNames(positionals);
    if (names.length === 0) throw new UsageError(`name the objects: ${word} NAME...`);
    const kind = await findKind(client, word);
    return names.map((name) => ({ kind, name, namespace: namespaceOf(values, client, kind) }));
  }
  if (positionals.length > 0) throw new UsageError("names and -f exclude each other");
  const places: ObjectPlace[] = [];
  for (const manifest of (await readManifests(filesOf(values.filename), stdin)).reverse()) {
    const kind = await findKindOf(client, manifest.apiVersion, manifest.kind);
    // A kind that is not served has no objects.
    if (kind) places.push({ kind, name: manifest.name, namespace: placeOf(manifest, kind, given, client) });
  }
  return places;
}

/** Waits for remaining objects; `held` says why they remain, and is empty at the end if all are gone. */
async function untilGone(
  { signal, stderr }: CommandContext,
  client: Client,
  held: Map<ObjectPlace, string>,
  timeoutMs: number,
): Promise<boolean> {
  using deadline = timeoutSignal(systemClock, timeoutMs, signal);
  const ends = await Promise.allSettled(
    [...held.keys()].map((place) => {
      const look = (object: UntypedObject | undefined): boolean => {
        if (object) held.set(place, whyHeld(object));
        else held.delete(place);
        return object === undefined;
      };
      return untilObject(client, place, look, deadline.signal);
    }),
  );
  const broken = ends.find((end) => end.status === "rejected");
  if (broken && !deadline.signal.aborted) throw (broken as PromiseRejectedResult).reason;
  if (held.size === 0) return true;
  stderr("setpoint delete: not gone in time:");
  for (const [place, reason] of held) stderr(`  ${objectName(place)}: ${visible(reason)}`);
  return false;
}

function whyHeld({ metadata: { finalizers = [] } }: UntypedObject): string {
  return finalizers.length > 0 ? `held by ${finalizers.join(", ")}` : "still there";
}
