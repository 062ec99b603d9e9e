import type { Session } from "node:inspector/promises";
import type { Clock } from "../../clock/clock.js";
import type { Endpoint, EndpointAnswer } from "./endpoint-server.js";

const DEFAULT_SECONDS = 10;
const MAX_SECONDS = 300;
const JSON_TYPE = "application/json";

/**
 * - `profile`, as `/debug/profile?seconds=10`: a CPU profile, as a `.cpuprofile` that browsers and editors open. Ends
 *   when its caller disconnects.
 * - `heap`: a heap snapshot, as a `.heapsnapshot`, including every Secret in the caches. The process blocks while it is
 *   taken.
 *
 * One at a time: a second caller gets 409.
 */
export function profilingEndpoints(clock: Clock): { readonly profile: Endpoint; readonly heap: Endpoint } {
  let isBusy = false;
  const alone = async (use: (session: Session) => Promise<string>): Promise<EndpointAnswer> => {
    if (isBusy) return { status: 409, body: "a profile is being taken already\n" };
    isBusy = true;
    try {
      return { status: 200, type: JSON_TYPE, body: await inSession(use) };
    } finally {
      isBusy = false;
    }
  };
  return {
    profile: async ({ query, signal }) => {
      const seconds = Number(query.get("seconds") ?? DEFAULT_SECONDS);
      if (!(seconds > 0 && seconds <= MAX_SECONDS))
        return { status: 400, body: `seconds must be above 0 and at most ${MAX_SECONDS}\n` };
      return alone(async (session) => {
        await session.post("Profiler.enable");
        await session.post("Profiler.start");
        await clock.sleep(seconds * 1_000, signal);
        const { profile } = await session.post("Profiler.stop");
        return JSON.stringify(profile);
      });
    },
    heap: () =>
      alone(async (session) => {
        const chunks: string[] = [];
        session.on("HeapProfiler.addHeapSnapshotChunk", ({ params }) => void chunks.push(params.chunk));
        await session.post("HeapProfiler.takeHeapSnapshot");
        return chunks.join("");
      }),
  };
}

/** An inspector session with this process itself: it opens no port. */
async function inSession(use: (session: Session) => Promise<string>): Promise<string> {
  const { Session: Inspector } = process.getBuiltinModule("node:inspector/promises");
  const session = new Inspector();
  session.connect();
  try {
    return await use(session);
  } finally {
    session.disconnect();
  }
}
