import type { Client } from "setpoint";
import { systemClock } from "setpoint/clock";
import type { CommandContext } from "setpoint/command";
import { connectTo, namespaceOf } from "./connection.js";
import { findKind, kindAndName } from "./find-kind.js";
import { type EventScope, eventTable, readEvents } from "./object-events.js";
import { formatted, outputFormat } from "./output.js";

/** `setpoint events`: resolves to the exit code. */
export async function runEvents(context: CommandContext): Promise<number> {
  const { values, stdout, stderr } = context;
  const format = outputFormat(values.output);
  await using client = await connectTo(context);
  const scope = await scopeOf(context, client);
  const events = await readEvents(client, scope);
  if (format) stdout(formatted({ apiVersion: "v1", kind: "List", items: events }, format));
  else if (events.length > 0) stdout(eventTable(events, systemClock.now(), scope.object === undefined));
  else stderr("no events");
  return 0;
}

async function scopeOf({ positionals, values }: CommandContext, client: Client): Promise<EventScope> {
  if (positionals.length === 0) {
    const namespace = values["all-namespaces"]
      ? undefined
      : ((values.namespace as string | undefined) ?? client.namespace);
    return { namespace };
  }
  const { kind: word, name } = kindAndName(positionals);
  const kind = await findKind(client, word);
  return { namespace: namespaceOf(values, client, kind), object: { kind: kind.kind, name } };
}
