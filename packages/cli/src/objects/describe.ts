import type { Condition, ObjectOf } from "setpoint";
import { systemClock } from "setpoint/clock";
import type { CommandContext } from "setpoint/command";
import type { UntypedObject } from "setpoint/kinds";
import type { Event } from "setpoint/kinds/v1";
import { visible, visibleLines } from "../visible.js";
import { connectTo, inNamespace, namespaceOf } from "./connection.js";
import { findKind, kindAndName } from "./find-kind.js";
import { withoutManagedFields } from "./get.js";
import { eventTable, readEvents } from "./object-events.js";
import { ageOf, columns, formatted, indented, outputFormat } from "./output.js";

/** `setpoint describe`: resolves to the exit code. */
export async function runDescribe(context: CommandContext): Promise<number> {
  const { values, positionals, stdout } = context;
  const format = outputFormat(values.output);
  await using client = await connectTo(context);
  const { kind: word, name } = kindAndName(positionals);
  const kind = await findKind(client, word);
  const namespace = namespaceOf(values, client, kind);
  const object = masked(withoutManagedFields(await client.get(kind, name, inNamespace(namespace))));
  const events = await readEvents(client, { namespace, object: { kind: kind.kind, name } });
  if (format) stdout(formatted({ object, events }, format));
  else stdout(description(object, events, systemClock.now()));
  return 0;
}

/** An object as text. */
export function description(object: UntypedObject, events: readonly ObjectOf<typeof Event>[], now: number): string {
  const { metadata, apiVersion, kind, status, ...rest } = object;
  const { conditions, ...otherStatus } = (status ?? {}) as { conditions?: readonly Condition[] };
  const { labels, annotations, ownerReferences, finalizers } = metadata;
  const lines = [
    `Name:         ${metadata.name}`,
    ...(metadata.namespace ? [`Namespace:    ${metadata.namespace}`] : []),
    `Kind:         ${apiVersion} ${kind}`,
    `Created:      ${metadata.creationTimestamp} (${ageOf(metadata.creationTimestamp, now)} ago)`,
    ...(metadata.deletionTimestamp ? [`Terminating:  since ${metadata.deletionTimestamp}`] : []),
    ...section("Labels", labels),
    ...section("Annotations", annotations),
    ...section("Finalizers", finalizers),
    ...section(
      "Owners",
      ownerReferences?.map((owner) => `${owner.kind.toLowerCase()}/${owner.name}`),
    ),
    ...Object.entries(rest).flatMap(([field, value]) => section(capitalised(field), value)),
    ...section("Status", otherStatus),
  ];
  if (conditions && conditions.length > 0) lines.push("Conditions:", indented(conditionTable(conditions, now)));
  lines.push(events.length > 0 ? `Events:\n${indented(eventTable(events, now, false))}` : "Events:       none");
  return visibleLines(lines.join("\n"));
}

function section(title: string, value: unknown): readonly string[] {
  const isEmpty =
    value === undefined || value === null || (typeof value === "object" && Object.keys(value).length === 0);
  if (isEmpty) return [];
  if (typeof value !== "object") return [`${visible(title)}:`.padEnd(14) + visible(String(value))];
  return [`${visible(title)}:`, indented(formatted(value, "yaml"))];
}

function conditionTable(conditions: readonly Condition[], now: number): string {
  const rows = conditions.map(({ type, status, reason, message, lastTransitionTime }) => {
    return [type, status, ageOf(lastTransitionTime, now), reason ?? "", message ?? ""];
  });
  return columns(["type", "status", "since", "reason", "message"], rows);
}

/** For a Secret, shows the names and lengths of its entries. */
function masked(object: UntypedObject): UntypedObject {
  if (object.apiVersion !== "v1" || object.kind !== "Secret") return object;
  const data = Object.entries((object.data ?? {}) as Record<string, string>).map(([key, value]) => {
    return [key, `${Buffer.byteLength(value, "base64")} bytes`];
  });
  // kubectl stores the applied object here again, in clear text.
  const { "kubectl.kubernetes.io/last-applied-configuration": _, ...annotations } = object.metadata.annotations ?? {};
  return { ...object, metadata: { ...object.metadata, annotations }, data: Object.fromEntries(data) } as UntypedObject;
}

function capitalised(field: string): string {
  return field.charAt(0).toUpperCase() + field.slice(1);
}
