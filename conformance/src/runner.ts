import { systemClock } from "setpoint/clock";
import type { Case } from "./case.js";
import type { Step } from "./normalise.js";
import { type Endings, Session } from "./session.js";
import { WebhookServer } from "./webhook-server.js";
import type { Wire } from "./wire.js";

/** The transcript of each case on one server, by `area: name`. */
export type Transcripts = ReadonlyMap<string, readonly Step[]>;

export const titleOf = (each: Case): string => `${each.area}: ${each.name}`;

export interface RunOptions {
  /** The number of concurrent cases. */
  readonly concurrency: number;
  /** How long a case waits for controllers. */
  readonly patienceMs: number;
  /** Varies the names of namespaces, for a server where those of an earlier run may still be terminating. */
  readonly salt?: string;
}

/**
 * Runs the cases on one server, several at once: early ones first, those that must be alone near the end, one by one,
 * and late ones last.
 */
export async function runCases(cases: readonly Case[], wire: Wire, options: RunOptions): Promise<Transcripts> {
  await using hooks = await WebhookServer.start();
  const transcripts = new Map<string, readonly Step[]>();
  const endings: Endings = new Map();
  const run = async (each: Case): Promise<void> => {
    const session = new Session(wire, idOf(titleOf(each) + (options.salt ?? "")), hooks, options.patienceMs, endings);
    transcripts.set(titleOf(each), await runCase(each, session));
  };
  await Promise.all(cases.filter((each) => each.early).map(run));
  const queue = cases.filter((each) => !each.alone && !each.early && !each.late);
  const work = async (): Promise<void> => {
    for (let each = queue.shift(); each; each = queue.shift()) await run(each);
  };
  await Promise.all(Array.from({ length: options.concurrency }, work));
  for (const each of cases.filter((one) => one.alone)) await run(each);
  await Promise.all(cases.filter((each) => each.late).map(run));
  for (const end of endings.values()) await end();
  return transcripts;
}

/** A name for the case's namespace and group that does not depend on other cases (FNV-1a of its title). */
function idOf(title: string): string {
  let hash = 0x811c9dc5;
  for (const char of title) hash = Math.imul(hash ^ char.charCodeAt(0), 0x01000193) >>> 0;
  return `case-${hash.toString(36)}`;
}

/** A thrown error ends a case early and is part of its transcript, so that it shows as a difference. */
async function runCase(each: Case, session: Session): Promise<readonly Step[]> {
  await session.post("/api/v1/namespaces", { metadata: { name: session.namespace } }, { silent: true });
  await furnished(session);
  try {
    await each.run(session);
  } catch (error) {
    session.note("threw", error instanceof Error ? error.message : String(error));
  }
  await session.delete(`/api/v1/namespaces/${session.namespace}`, undefined, { silent: true });
  return session.transcript();
}

/** Waits for the objects that controllers create in every new namespace, so that they do not appear during a case. */
async function furnished(session: Session): Promise<void> {
  for (const path of ["configmaps/kube-root-ca.crt", "serviceaccounts/default"]) {
    for (let tries = 0; tries < 200; tries++) {
      if ((await session.get(`/api/v1/namespaces/${session.namespace}/${path}`, { silent: true })).status === 200)
        break;
      await systemClock.sleep(25);
    }
  }
}
