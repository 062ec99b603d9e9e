import type { Client, ObjectOf } from "setpoint";
import { Event } from "setpoint/kinds/v1";
import { ageOf, columns } from "./output.js";

export interface EventScope {
  /** All namespaces where undefined. */
  readonly namespace: string | undefined;
  /** Of this object alone. */
  readonly object?: { readonly kind: string; readonly name: string };
}

/** The newest last. */
export async function readEvents(client: Client, { namespace, object }: EventScope): Promise<ObjectOf<typeof Event>[]> {
  const fields = object && `involvedObject.kind=${object.kind},involvedObject.name=${object.name}`;
  const { items } = await client.list(Event, {
    ...(namespace === undefined ? {} : { namespace }),
    ...(fields ? { fieldSelector: fields } : {}),
  });
  return [...items].sort((one, other) => Date.parse(seenAt(one)) - Date.parse(seenAt(other)));
}

export function eventTable(events: readonly ObjectOf<typeof Event>[], now: number, showsObject: boolean): string {
  const headings = ["last seen", "type", "reason", ...(showsObject ? ["object"] : []), "message"];
  const rows = events.map((event) => {
    const { kind = "", name = "" } = event.involvedObject;
    const count = event.series?.count ?? event.count ?? 1;
    return [
      `${ageOf(seenAt(event), now)}${count > 1 ? ` (x${count})` : ""}`,
      event.type ?? "",
      event.reason ?? "",
      ...(showsObject ? [`${kind.toLowerCase()}/${name}`] : []),
      (event.message ?? "").trim(),
    ];
  });
  return columns(headings, rows);
}

function seenAt(event: ObjectOf<typeof Event>): string {
  return (
    event.series?.lastObservedTime ?? event.lastTimestamp ?? event.eventTime ?? event.metadata.creationTimestamp ?? ""
  );
}
