import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import { connect } from "../../client/connect.js";
import { systemRandom } from "../../clock/random.js";
import { systemClock, threadsTimeNs } from "../../clock/system-clock.js";
import type { LogFields, Logger } from "../../loop/logger.js";
import { electionTimes, LeaderElector } from "./leader-elector.js";
import { LeaseState, type LeaseTask, type ToThread } from "./lease-state.js";

/** How many lease durations the main thread may be busy before it counts as dead and its lease expires. */
const MAX_BUSY_LEASES = 4;

/** The thread of {@link LeaseThread}: runs the election on its own connection, whatever the main thread does. */
async function hold(port: MessagePort, task: LeaseTask): Promise<void> {
  const state = new LeaseState(task.state);
  const { leaseMs } = electionTimes(task.elector);
  await using client = await connect(task.connect);
  const elector = new LeaderElector({
    ...task.elector,
    client,
    clock: systemClock,
    random: systemRandom,
    log: logTo(port),
    onRenewed: (leadsForMs) => state.lead(threadsTimeNs(), leadsForMs),
    mayRenew: () => state.seenWithin(threadsTimeNs(), leaseMs * MAX_BUSY_LEASES),
  });
  const stop = new AbortController();
  elector.lost.addEventListener("abort", () => {
    // The message waits for an event loop that may be busy, but a check before a write must see it at once.
    state.end();
    port.postMessage({ type: "lost", message: elector.lost.reason.message });
  });
  const released = new Promise<void>((resolve) => {
    port.on("message", (message: ToThread) => {
      if (message.type !== "release") return;
      stop.abort();
      resolve();
    });
  });
  try {
    await elector.acquire(stop.signal);
    port.postMessage({ type: "leading" });
    await released;
  } catch (error) {
    if (!stop.signal.aborted) throw error;
  }
  await elector.release();
}

function logTo(port: MessagePort, bound: LogFields = {}): Logger {
  const log =
    (level: "debug" | "info" | "warn" | "error") =>
    (message: string, fields: LogFields = {}): void =>
      port.postMessage({ type: "log", level, message, fields: { ...bound, ...fields } });
  return {
    debug: log("debug"),
    info: log("info"),
    warn: log("warn"),
    error: log("error"),
    with: (fields) => logTo(port, { ...bound, ...fields }),
  };
}

if (parentPort) {
  await hold(parentPort, workerData as LeaseTask);
  parentPort.close();
}
