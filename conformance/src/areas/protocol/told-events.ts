import type { Body, Session } from "../../session.js";

/**
 * The events of an object, each message once, ordered by reason, because their order is random. Waits until there are
 * as many messages of each reason as it is listed.
 */
export async function toldEvents(s: Session, kind: string, name: string, reasons: readonly string[]): Promise<void> {
  const path = `/api/v1/namespaces/${s.namespace}/events?fieldSelector=involvedObject.kind%3D${kind},involvedObject.name%3D${name}`;
  const told = (items: readonly Body[] = []): readonly string[] =>
    [...new Set(items.map(({ type, reason, message }) => `${type} ${reason}: ${message}`))].sort();
  const count = (texts: readonly string[], reason: string): number =>
    texts.filter((text) => text.includes(`${reason}:`)).length;
  const wanted = reasons.map((reason) => `${reason}:`);
  const { body } = await s.until(path, (reply) =>
    reasons.every((reason) => count(told(reply.body.items), ` ${reason}`) >= count(wanted, reason)),
  );
  s.note(`events of ${name}`, told(body.items));
}
