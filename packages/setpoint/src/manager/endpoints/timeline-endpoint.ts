import type { RunRecord, Timeline } from "../../controller/timeline/timeline.js";
import type { LoopStatus } from "../loop-status.js";
import type { Endpoint } from "./endpoint-server.js";

/** How many runs a slow reader may fall behind before the oldest are dropped. */
const MAX_BACKLOG = 1_000;

/**
 * `/timeline`: the last runs as a JSON list, oldest first. With `?watch=true`, one JSON object per line: first the
 * existing runs, then each run as it ends. `controller` and `key` filter. If a reader is too slow, a line says how many
 * runs were dropped: `{"dropped":12}`. `?loops=true` returns the loops instead, with what keeps each from working.
 */
export function timelineEndpoint(timeline: Timeline, loops: () => readonly LoopStatus[]): Endpoint {
  return ({ query }) => {
    if (query.get("loops") === "true") return { status: 200, type: "application/json", body: JSON.stringify(loops()) };
    const [controller, key] = [query.get("controller"), query.get("key")];
    const filter = { ...(controller ? { controller } : {}), ...(key ? { key } : {}) };
    const matches = (run: RunRecord): boolean =>
      (!controller || run.controller === controller) && (!key || run.key === key);
    if (query.get("watch") !== "true") {
      return { status: 200, type: "application/json", body: JSON.stringify([...timeline.runs(filter)]) };
    }
    return { status: 200, type: "application/x-ndjson", lines: (signal) => follow(timeline, filter, matches, signal) };
  };
}

async function* follow(
  timeline: Timeline,
  filter: Parameters<Timeline["runs"]>[0],
  matches: (run: RunRecord) => boolean,
  signal: AbortSignal,
): AsyncIterable<string> {
  const waiting: RunRecord[] = [...timeline.runs(filter)];
  let dropped = 0;
  let wake = (): void => {};
  signal.addEventListener("abort", () => wake(), { once: true });
  using _subscription = timeline.subscribe((run) => {
    if (!matches(run)) return;
    waiting.push(run);
    if (waiting.length > MAX_BACKLOG) {
      waiting.shift();
      dropped++;
    }
    wake();
  });
  while (!signal.aborted) {
    if (dropped > 0) {
      const line = JSON.stringify({ dropped });
      dropped = 0;
      yield line;
      continue;
    }
    const run = waiting.shift();
    if (run) {
      yield JSON.stringify(run);
      continue;
    }
    await new Promise<void>((resolve) => {
      wake = resolve;
    });
  }
}
