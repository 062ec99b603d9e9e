import type { Client } from "../client/client.js";
import type { Informers } from "../informer/informers.js";

/** One API server as controllers use it: requests, and the informers that they share. */
export interface Cluster {
  readonly client: Client;
  readonly informers: Informers;
  /** The client only tries writes out: answers are no state of the server. */
  readonly isPlan?: boolean;
}
