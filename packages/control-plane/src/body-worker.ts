import { constants, setPriority } from "node:os";
import { parentPort } from "node:worker_threads";
import { loadFacts } from "./facts/facts.js";
import type { BodyJob, BodyResult } from "./registry/body/body-threads.js";
import { readYamlText } from "./registry/body/yaml-text.js";
import { rehearse } from "./rehearsed-write.js";

// The parser creates an error per mistake. Capturing their stacks would take most of its time.
Error.stackTraceLimit = 0;

// Lets small requests go first on few processors. The lowest priority would starve on a busy machine. Only on Linux
// does this leave other threads alone.
if (process.platform === "linux" && parentPort !== null) setPriority(constants.priority.PRIORITY_BELOW_NORMAL);

const UNKNOWN = { type: "fine", json: undefined, made: undefined, yaml: undefined, warnings: [] } as const;

async function done(job: BodyJob): Promise<BodyResult> {
  if (job.type === "yaml") return { type: "yaml", reading: readYamlText(job.text) };
  return { type: "rehearsal", end: await rehearse(job.rehearsal, await loadFacts()) };
}

/** Runs in its own thread: processes large bodies, one at a time, while the server continues. */
parentPort?.on("message", (job: BodyJob) => {
  done(job).then(
    (result) => parentPort?.postMessage(result),
    // A job that fails here also fails in the main thread, which responds to the client.
    () => parentPort?.postMessage({ type: "rehearsal", end: UNKNOWN } satisfies BodyResult),
  );
});
