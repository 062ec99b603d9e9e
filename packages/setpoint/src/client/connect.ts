import { delimiter } from "node:path";
import type { Clock } from "../clock/clock.js";
import { systemClock } from "../clock/system-clock.js";
import { SetpointError } from "../errors/error.js";
import { type ClientOptions, createClient } from "./api-client.js";
import type { Client } from "./client.js";
import { type ClusterAccess, clusterAccess } from "./cluster-access.js";
import { http1Transport } from "./http1-transport.js";
import { http2Transport } from "./http2-transport.js";
import { type Environment, inClusterAccess, isInCluster } from "./in-cluster.js";
import { loadKubeconfig } from "./kubeconfig.js";
import { proxyFromEnvironment } from "./proxy.js";
import { rotatingTls, withClientCertificate } from "./tls-source.js";
import type { Transport } from "./transport.js";
import { tunnelThrough } from "./tunnel.js";

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
  const access = await chosenAccess(options, clock);
  const files = rotatingTls(access.tls, clock);
  // Read once beforehand: a bad certificate is to be an error of this call, not of some later one.
  await files();
  const tls = access.clientCertificate ? withClientCertificate(files, access.clientCertificate) : files;
  const proxy = access.proxyUrl ?? proxyFromEnvironment(access.server, options.env ?? process.env);
  const tunnel = proxy === undefined ? undefined : tunnelThrough(proxy, clock);
  const open = options.protocol === "http2" ? http2Transport : http1Transport;
  const transport = open({ server: access.server, clock, tls, tunnel });
  return createClient({
    ...options,
    clock,
    transport: options.wrap?.(transport) ?? transport,
    server: access.server,
    namespace: options.namespace ?? access.namespace,
    credentials: access.credentials,
  });
}

async function chosenAccess(options: ConnectOptions, clock: Clock): Promise<ClusterAccess> {
  const env = options.env ?? process.env;
  if (options.kubeconfig !== undefined) {
    const files = typeof options.kubeconfig === "string" ? [options.kubeconfig] : options.kubeconfig;
    return clusterAccess(await loadKubeconfig(files, { skipMissing: files.length > 1 }), options.context, clock, env);
  }
  if (options.context === undefined && isInCluster(env)) return inClusterAccess(env, clock);
  const files = (env.KUBECONFIG ?? "").split(delimiter).filter((file) => file !== "");
  if (files.length > 0) {
    return clusterAccess(await loadKubeconfig(files, { skipMissing: true }), options.context, clock, env);
  }
  throw new SetpointError(
    "CLUSTER_NOT_CHOSEN",
    "no cluster was chosen: pass a kubeconfig, set KUBECONFIG, or run in a pod. " +
      "Without a cluster, `npx setpoint up` starts an embedded one: KUBECONFIG=.setpoint/kubeconfig",
  );
}
