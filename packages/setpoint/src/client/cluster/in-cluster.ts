import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "../../clock/clock.js";
import type { ClusterAccess } from "./cluster-access.js";
import { ConfigNode } from "./config-node.js";
import { pemFile } from "./pem-source.js";
import { tokenFile } from "./token-file.js";

export type Environment = Readonly<Record<string, string | undefined>>;

const SERVICE_ACCOUNT_FOLDER = "/var/run/secrets/kubernetes.io/serviceaccount";

/** Whether this process runs in a pod with a service account. */
export function isInCluster(env: Environment, folder = SERVICE_ACCOUNT_FOLDER): boolean {
  return Boolean(env.KUBERNETES_SERVICE_HOST && env.KUBERNETES_SERVICE_PORT) && existsSync(join(folder, "token"));
}

/** Whether `connect` uses the service account of this pod, because no other cluster was named. */
export function connectsAsPod(
  named: { readonly kubeconfig?: unknown; readonly context?: unknown },
  env: Environment,
  folder?: string,
): boolean {
  return named.kubeconfig === undefined && named.context === undefined && isInCluster(env, folder);
}

/** The cluster that this pod runs in, as its service account. Reads token and CA again when they rotate. */
export async function inClusterAccess(
  env: Environment,
  clock: Clock,
  folder = SERVICE_ACCOUNT_FOLDER,
): Promise<ClusterAccess> {
  const host = env.KUBERNETES_SERVICE_HOST ?? "";
  const port = env.KUBERNETES_SERVICE_PORT ?? "";
  const caFile = join(folder, "ca.crt");
  const token = join(folder, "token");
  const namespace = await readFile(join(folder, "namespace"), "utf8").catch(() => "default");
  return {
    server: `https://${host.includes(":") ? `[${host}]` : host}:${port}`,
    tls: { ca: pemFile(new ConfigNode(undefined, caFile), caFile, "certificate") },
    proxyUrl: undefined,
    namespace: namespace.trim() || "default",
    credentials: tokenFile(token, "the service account's token", clock),
  };
}
