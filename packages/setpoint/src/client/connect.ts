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
  /** Puts something around the transport: a fault injector, a recorder. */
  readonly wrap?: (transport: Transport) => Transport;
}

/**
 * A client for the cluster that was named: by the option `kubeconfig`, by running in a pod, or by `KUBECONFIG`, in this
 * order. Nothing else is looked at: a cluster is never guessed. Rejects with `CLUSTER_NOT_CHOSEN` where none was named,
 * and with an error that names the file and the field where the configuration is wrong.
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
