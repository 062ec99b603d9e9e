import type { Session } from "node:inspector/promises";
import type { Clock } from "../clock/clock.js";
import type { Endpoint, EndpointAnswer } from "./endpoint-server.js";

const DEFAULT_SECONDS = 10;
const MAX_SECONDS = 300;
const JSON_TYPE = "application/json";

/**
 * `/debug/profile?seconds=10`: where the CPU's time goes, as a `.cpuprofile` that browsers and editors open. One at a
 * time: a second caller meanwhile is answered 409.
 */
export function cpuProfileEndpoint(clock: Clock): Endpoint {
  let isBusy = false;
  return async ({ query }) => {
    const seconds = Number(query.get("seconds") ?? DEFAULT_SECONDS);
    if (!(seconds > 0 && seconds <= MAX_SECONDS))
      return { status: 400, body: `seconds must be above 0 and at most ${MAX_SECONDS}\n` };
    if (isBusy) return { status: 409, body: "a profile is being taken already\n" };
    isBusy = true;
    try {
      return await inSession(async (session) => {
        await session.post("Profiler.enable");
        await session.post("Profiler.start");
        await clock.sleep(seconds * 1_000);
        const { profile } = await session.post("Profiler.stop");
        return { status: 200, type: JSON_TYPE, body: JSON.stringify(profile) };
      });
    } finally {
      isBusy = false;
    }
  };
}

/** `/debug/heap`: what fills the heap, as a `.heapsnapshot`. The process stands still while it is taken. */
export function heapSnapshotEndpoint(): Endpoint {
  return () =>
    inSession(async (session) => {
      const chunks: string[] = [];
      session.on("HeapProfiler.addHeapSnapshotChunk", ({ params }) => void chunks.push(params.chunk));
      await session.post("HeapProfiler.takeHeapSnapshot");
      return { status: 200, type: JSON_TYPE, body: chunks.join("") };
    });
}

/** A session of this process with itself: no port is opened for it. */
async function inSession(use: (session: Session) => Promise<EndpointAnswer>): Promise<EndpointAnswer> {
  const { Session: Inspector } = process.getBuiltinModule("node:inspector/promises");
  const session = new Inspector();
  session.connect();
  try {
    return await use(session);
  } finally {
    session.disconnect();
  }
}
