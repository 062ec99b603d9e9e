import type { Body, Session } from "../session.js";

/** What controllers told of an object, each thing once, in the order of reasons: who came first is chance. */
export async function toldEvents(s: Session, kind: string, name: string, reasons: readonly string[]): Promise<void> {
  const path = `/api/v1/namespaces/${s.namespace}/events?fieldSelector=involvedObject.kind%3D${kind},involvedObject.name%3D${name}`;
  const told = (items: readonly Body[] = []): readonly string[] =>
    [...new Set(items.map(({ type, reason, message }) => `${type} ${reason}: ${message}`))].sort();
  const { body } = await s.until(path, ({ body: { items = [] } }) =>
    reasons.every((reason) => items.some((event: Body) => event.reason === reason)),
  );
  s.note(`events of ${name}`, told(body.items));
}
