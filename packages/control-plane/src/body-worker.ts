import { constants, setPriority } from "node:os";
import { parentPort } from "node:worker_threads";
import { loadFacts } from "./facts/facts.js";
import type { BodyJob, BodyResult } from "./registry/body/body-threads.js";
import { readYamlText } from "./registry/body/yaml-text.js";
import { rehearse } from "./rehearsed-write.js";

// The parser makes an error for each mistake, and most of its time would go into their stacks.
Error.stackTraceLimit = 0;

// Small requests go first where processors are few; on a busy machine the lowest priority would be next to nothing. Only on
// Linux does this leave other threads alone.
if (process.platform === "linux" && parentPort !== null) setPriority(constants.priority.PRIORITY_BELOW_NORMAL);

const UNKNOWN = { type: "fine", json: undefined, made: undefined, yaml: undefined, warnings: [] } as const;

async function done(job: BodyJob): Promise<BodyResult> {
  if (job.type === "yaml") return { type: "yaml", reading: readYamlText(job.text) };
  return { type: "rehearsal", end: await rehearse(job.rehearsal, await loadFacts()) };
}

/** Runs in a thread of its own: looks at large bodies, one after the other, while the server goes on. */
parentPort?.on("message", (job: BodyJob) => {
  done(job).then(
    (result) => parentPort?.postMessage(result),
    // What fails here fails in the main thread too, which answers the client.
    () => parentPort?.postMessage({ type: "rehearsal", end: UNKNOWN } satisfies BodyResult),
  );
});
