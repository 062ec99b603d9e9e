import { delimiter } from "node:path";
import type { Clock } from "../../clock/clock.js";
import { SetpointError } from "../../errors/error.js";
import type { ConnectOptions } from "../connect.js";
import type { TlsSource } from "../transport/dialer.js";
import type { HttpTransportOptions } from "../transport/http1-transport.js";
import { proxyFromEnvironment } from "../transport/proxy.js";
import { tunnelThrough } from "../transport/tunnel.js";
import { type ClusterAccess, clusterAccess } from "./cluster-access.js";
import type { Credentials } from "./credentials.js";
import { connectsAsPod, inClusterAccess } from "./in-cluster.js";
import { loadKubeconfig } from "./kubeconfig.js";
import { rotatingTls, withClientCertificate } from "./tls-source.js";

/** What a transport and a client need to know about the chosen cluster. */
export interface ChosenCluster {
  readonly server: string;
  readonly namespace: string;
  readonly credentials: Credentials;
  readonly tls: TlsSource;
  readonly tunnel: HttpTransportOptions["tunnel"];
}

/** The cluster that options and environment name. Rejects like `connect`. */
export async function chosenCluster(options: ConnectOptions, clock: Clock): Promise<ChosenCluster> {
  const access = await chosenAccess(options, clock);
  const files = rotatingTls(access.tls, clock);
  // Read once now, so that a bad certificate fails this call and not a later one.
  await files();
  const proxy = access.proxyUrl ?? proxyFromEnvironment(access.server, options.env ?? process.env);
  return {
    server: access.server,
    namespace: access.namespace,
    credentials: access.credentials,
    tls: access.clientCertificate ? withClientCertificate(files, access.clientCertificate) : files,
    tunnel: proxy === undefined ? undefined : tunnelThrough(proxy, clock),
  };
}

async function chosenAccess(options: ConnectOptions, clock: Clock): Promise<ClusterAccess> {
  const env = options.env ?? process.env;
  if (options.kubeconfig !== undefined) {
    const files = typeof options.kubeconfig === "string" ? [options.kubeconfig] : options.kubeconfig;
    return clusterAccess(await loadKubeconfig(files, { skipMissing: files.length > 1 }), options.context, clock, env);
  }
  if (connectsAsPod(options, env)) return inClusterAccess(env, clock);
  const files = (env.KUBECONFIG ?? "").split(delimiter).filter((file) => file !== "");
  if (files.length > 0) {
    return clusterAccess(await loadKubeconfig(files, { skipMissing: true }), options.context, clock, env);
  }
  throw new SetpointError(
    "CLUSTER_NOT_CHOSEN",
    "no cluster chosen: pass a kubeconfig, set KUBECONFIG, or run in a pod. " +
      "Without a cluster, `npx setpoint up` starts an embedded one: KUBECONFIG=.setpoint/kubeconfig",
  );
}
