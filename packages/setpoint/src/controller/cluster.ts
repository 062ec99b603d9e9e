import type { Client } from "../client/client.js";
import type { Informers } from "../informer/informers.js";

/** One API server as controllers use it: a client and shared informers. */
export interface Cluster {
  readonly client: Client;
  readonly informers: Informers;
  /** The client only makes dry runs: its responses are not the state of the server. */
  readonly isPlan?: boolean;
}
