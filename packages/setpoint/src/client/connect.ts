import { systemClock } from "../clock/system-clock.js";
import { type ClientOptions, createClient } from "./api-client.js";
import type { Client } from "./client.js";
import type { Environment } from "./cluster/in-cluster.js";
import type { Transport } from "./transport/transport.js";

export interface ConnectOptions extends Omit<ClientOptions, "transport" | "server" | "credentials"> {
  /** A kubeconfig file, or several as in `KUBECONFIG`. */
  readonly kubeconfig?: string | readonly string[];
  /** The context to use in place of the current one. */
  readonly context?: string;
  /** Defaults to the process's. */
  readonly env?: Environment;
  /** Defaults to `http1`, which costs less; `http2` needs fewer connections. */
  readonly protocol?: "http1" | "http2";
  /** Wraps the transport, for example with a fault injector or a recorder. */
  readonly wrap?: (transport: Transport) => Transport;
}

/**
 * A client for the cluster that the option `kubeconfig`, the pod's service account or `KUBECONFIG` names, in this
 * order. It never guesses a cluster. Rejects with `CLUSTER_NOT_CHOSEN` if nothing names one, and with an error that
 * names file and field if the configuration is wrong.
 */
export async function connect(options: ConnectOptions = {}): Promise<Client> {
  const clock = options.clock ?? systemClock;
  // Loaded when first needed: who only declares kinds and controllers reads no kubeconfig and opens no connection.
  const { chosenCluster } = await import("./cluster/chosen-cluster.js");
  const { server, namespace, credentials, tls, tunnel } = await chosenCluster(options, clock);
  const open =
    options.protocol === "http2"
      ? (await import("./transport/http2-transport.js")).http2Transport
      : (await import("./transport/http1-transport.js")).http1Transport;
  const transport = open({ server, clock, tls, tunnel });
  return createClient({
    ...options,
    clock,
    transport: options.wrap?.(transport) ?? transport,
    server,
    namespace: options.namespace ?? namespace,
    credentials,
  });
}
