import { Buffer } from "node:buffer";
import type { Client } from "../../client/client.js";
import type { ConnectOptions } from "../../client/connect.js";
import type { Clock } from "../../clock/clock.js";
import type { Random } from "../../clock/random.js";
import type { Logger } from "../../loop/logger.js";
import {
  DEFAULT_ELECTION,
  type Elector,
  electionTimes,
  LeaderElector,
  type LeaderElectorOptions,
} from "./leader-elector.js";
import { LeaseThread } from "./lease-thread.js";

export interface ElectionOptions
  extends Partial<Pick<LeaderElectorOptions, "namespace" | "name" | "identity" | "lease" | "renew" | "retry">> {
  /**
   * Runs the election in a separate thread with its own connection to this cluster, so that code which blocks the event
   * loop does not lose the lease. `run` sets this if it connects itself.
   */
  readonly thread?: Pick<ConnectOptions, "kubeconfig" | "context">;
}

interface Candidate {
  /** The name of the manager, and the default name of the Lease. */
  readonly name: string;
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

/** The election of one process, in this thread or in a separate one. */
export function electorOf({ thread, ...given }: ElectionOptions, candidate: Candidate): Elector {
  const { name, client, clock, random, log } = candidate;
  const identity = `${process.env.HOSTNAME ?? "local"}_${Buffer.from(random.bytes(6)).toString("hex")}`;
  const elector = { ...DEFAULT_ELECTION, namespace: client.namespace, name, identity, ...given };
  electionTimes(elector);
  const worker = thread && workerModule();
  if (thread && worker) return new LeaseThread({ connect: thread, elector, clock, log, worker });
  if (thread) log.warn("setpoint/lease-worker is missing: code that blocks the event loop may lose the lease");
  return new LeaderElector({ ...elector, client, clock, random, log });
}

/** The thread's module, if this package is installed; a bundle in a single file lacks it. */
function workerModule(): URL | undefined {
  try {
    return new URL(import.meta.resolve("setpoint/lease-worker"));
  } catch {
    return undefined;
  }
}
