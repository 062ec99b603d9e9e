import type { Body, Session } from "../../session.js";

/** The successive statuses of an object. */
export interface SeenStatuses extends AsyncDisposable {
  /** Waits for a status; all statuses seen until then are recorded, each once, when the case ends. */
  until(isDone: (object: Body) => boolean): Promise<void>;
}

/**
 * Watches an object from before its creation. Statuses are recorded without times; two equal ones in a row count as
 * one, because a controller may write something invisible.
 */
export async function statusesOf(s: Session, collection: string, name: string): Promise<SeenStatuses> {
  const stream = await s.open(`${collection}?watch=true&fieldSelector=metadata.name%3D${name}`);
  const seen: unknown[] = [];
  let last: Body;
  return {
    async until(isDone) {
      while (!(last && isDone(last))) {
        const line = await stream.next(s.patienceMs);
        if (line === undefined) {
          seen.push("nothing further");
          return;
        }
        last = (JSON.parse(line) as Body).object;
        const status = last.status ?? {};
        if (JSON.stringify(seen.at(-1)) !== JSON.stringify(status)) seen.push(status);
      }
    },
    [Symbol.asyncDispose]: async () => {
      stream[Symbol.dispose]();
      s.note(`STATUSES ${name}`, seen);
    },
  };
}

/** The status of a pod whose only container runs and is ready. */
export function readyStatus(podIP: string): object {
  const lastTransitionTime = new Date().toISOString().replace(/\.\d+/, "");
  const conditions = ["Ready", "ContainersReady"].map((type) => ({ type, status: "True", lastTransitionTime }));
  return { status: { phase: "Running", podIP, podIPs: [{ ip: podIP }], conditions } };
}
