import { existsSync, readFileSync } from "node:fs";
import { delimiter, dirname, join, resolve } from "node:path";
import type { Client, Kind, KubeObject, ObjectOf } from "setpoint";
import { ApiError, lines, readJson, type Status } from "setpoint/client";
import { type CommandContext, CommandError, UsageError } from "setpoint/command";
import type { RunRecord } from "setpoint/controller";
import { DaemonSet, Deployment, ReplicaSet, StatefulSet } from "setpoint/kinds/apps/v1";
import { Pod, ServiceAccount } from "setpoint/kinds/v1";
import type { LoopStatus } from "setpoint/manager";
import { MANAGER_FILE } from "../up/manager-file.js";

/** A process whose timeline can be read. */
export interface TimelineSource {
  /** `setpoint up (pid 4711)`, `pod setpoint-system/operator-0`. */
  readonly name: string;
  /** The last runs of a key, the oldest first. */
  runs(key: string, signal: AbortSignal): Promise<readonly RunRecord[]>;
  /** What the process runs, and what keeps each loop from working. */
  loops(signal: AbortSignal): Promise<readonly LoopStatus[]>;
  /** What there is and each run as it ends. */
  follow(signal: AbortSignal): AsyncIterable<RunRecord>;
}

/** The process of `setpoint up` that a folder tells of; undefined where there is none. */
export function localSource({ values, env }: Pick<CommandContext, "values" | "env">): TimelineSource | undefined {
  const file = managerFile(values["data-dir"] as string | undefined, env.KUBECONFIG);
  if (file === undefined) return undefined;
  const { url, pid } = JSON.parse(readFileSync(file, "utf8")) as { url: string; pid: number };
  const silent = `${file} names process ${pid}, which does not answer at ${url}: start it again with setpoint up`;
  return httpSource(`setpoint up (pid ${pid})`, url, silent);
}

/** The process that `--url` names, by the address of its metrics. */
export function urlSource(text: string): TimelineSource {
  const address = /^https?:\/\//.test(text) ? text : `http://${text}`;
  if (!URL.canParse(address)) throw new UsageError(`--url ${text}: expected http://HOST:PORT`);
  const silent = `nothing answers at ${address}: start the operator with --metrics-bind-address HOST:PORT`;
  return httpSource(`the process at ${address}`, address.replace(/\/$/, ""), silent);
}

/** `silent` is what to say where nothing answers. */
function httpSource(name: string, url: string, silent: string): TimelineSource {
  const get = async (query: string, signal: AbortSignal): Promise<Response> => {
    let response: Response;
    try {
      response = await fetch(`${url}/timeline${query}`, { signal });
    } catch (cause) {
      signal.throwIfAborted();
      throw new CommandError(silent, { cause });
    }
    if (response.ok) return response;
    throw new CommandError(`${url}/timeline answers ${response.status}: ${(await response.text()).trim()}`);
  };
  return {
    name,
    runs: async (key, signal) => (await get(`?key=${encodeURIComponent(key)}`, signal)).json() as Promise<RunRecord[]>,
    loops: async (signal) => (await get("?loops=true", signal)).json() as Promise<LoopStatus[]>,
    follow: async function* (signal) {
      yield* records((await get("?watch=true", signal)).body!);
    },
  };
}

/** Beside the kubeconfig in use, else the next `.setpoint` upwards. */
function managerFile(dataDir: string | undefined, kubeconfig: string | undefined): string | undefined {
  if (dataDir !== undefined) {
    const file = join(dataDir, MANAGER_FILE);
    if (existsSync(file)) return file;
    throw new CommandError(`${file} does not exist: setpoint up does not run with this folder`);
  }
  const [beside] = (kubeconfig ?? "").split(delimiter).filter((path) => path !== "");
  if (beside !== undefined && existsSync(join(dirname(resolve(beside)), MANAGER_FILE))) {
    return join(dirname(resolve(beside)), MANAGER_FILE);
  }
  for (let folder = process.cwd(); ; folder = dirname(folder)) {
    const file = join(folder, ".setpoint", MANAGER_FILE);
    if (existsSync(file)) return file;
    if (folder === dirname(folder)) return undefined;
  }
}

/** The pods that run Setpoint, or the one that was named, each through the API server's proxy. */
export async function podSources(client: Client, { values, signal }: CommandContext): Promise<TimelineSource[]> {
  const account = values["service-account"] as string | undefined;
  const named = values.pod as string | undefined;
  const workload = values.workload as string | undefined;
  // Anybody who can make a pod can give it the label: a token goes to none that was found by it alone.
  if (account !== undefined && named === undefined && workload === undefined) {
    throw new UsageError("--service-account sends a token: name the pod that gets it, with --pod or --workload");
  }
  const headers = await tokenHeaders(client, account);
  const pods =
    named !== undefined
      ? [await podNamed(client, named)]
      : workload !== undefined
        ? await workloadPods(client, workload)
        : await setpointPods(client);
  return pods.map((pod) => {
    const { namespace, name } = pod.metadata;
    const pathOf = (at: string): string => `/api/v1/namespaces/${namespace}/pods/${at}/proxy/timeline`;
    // Plain where it was told so (--metrics-secure=false): then it does not understand, and its server is out of reach.
    const paths = [pathOf(`https:${name}:${metricsPort(pod)}`), pathOf(`${name}:${metricsPort(pod)}`)] as const;
    const get = async (query: string, until: AbortSignal): ReturnType<Client["raw"]> => {
      const ask = async (path: string) => {
        const request = { method: "GET", path: `${path}${query}` } as const;
        return { request, response: await client.raw({ ...request, headers, signal: until }) };
      };
      let asked = await ask(paths[0]);
      if (isOutOfReach(asked.response)) {
        for await (const _status of asked.response.body) break;
        asked = await ask(paths[1]);
      }
      if (asked.response.status < 300) return asked.response;
      throw await refusal(asked.request, asked.response, `${namespace}/${name}`);
    };
    return {
      name: `pod ${namespace}/${name}`,
      runs: async (key) => {
        const query = `?key=${encodeURIComponent(key)}`;
        return (await readJson({ method: "GET", path: paths[0] }, await get(query, signal))) as RunRecord[];
      },
      loops: async () =>
        (await readJson({ method: "GET", path: paths[0] }, await get("?loops=true", signal))) as LoopStatus[],
      follow: async function* (until) {
        yield* records((await get("?watch=true", until)).body);
      },
    };
  });
}

/** The API server itself says so, by a Status; what the pod answers is text. */
function isOutOfReach({ status, headers }: Awaited<ReturnType<Client["raw"]>>): boolean {
  return status >= 500 && headers["content-type"]?.includes("json") === true;
}

async function refusal(
  request: { readonly method: string; readonly path: string },
  response: Awaited<ReturnType<Client["raw"]>>,
  pod: string,
): Promise<Error> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of response.body) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString("utf8").trim();
  if (response.headers["content-type"]?.includes("json")) {
    return new ApiError({ request, status: response.status, body: JSON.parse(text) as Status });
  }
  const hint = [401, 403].includes(response.status)
    ? "; name an account that may get /timeline: --service-account"
    : "";
  return new CommandError(`pod ${pod} answers ${response.status}: ${text}${hint}`);
}

async function setpointPods(client: Client): Promise<readonly ObjectOf<typeof Pod>[]> {
  const labelSelector = "app.kubernetes.io/managed-by=setpoint";
  const { items } = await client.list(Pod, { labelSelector });
  return items.filter(({ status }) => status?.phase === "Running");
}

async function podNamed(client: Client, text: string): Promise<ObjectOf<typeof Pod>> {
  const [namespace, name] = text.includes("/") ? (text.split("/") as [string, string]) : [client.namespace, text];
  return client.get(Pod, name, { namespace });
}

const WORKLOADS = { deployment: Deployment, statefulset: StatefulSet, daemonset: DaemonSet };

/** The running pods that a workload controls, by uid: names and labels can be borrowed. */
async function workloadPods(client: Client, text: string): Promise<readonly ObjectOf<typeof Pod>[]> {
  const parts = text.split("/");
  const [namespace, word, name] = parts.length === 3 ? parts : [client.namespace, ...parts];
  const kind = WORKLOADS[(word ?? "").toLowerCase() as keyof typeof WORKLOADS];
  if (kind === undefined || !name || !namespace) {
    throw new UsageError(`--workload ${text}: expected [NAMESPACE/]deployment/NAME, or statefulset, or daemonset`);
  }
  const { metadata } = await client.get(kind as Kind<KubeObject>, name, { namespace });
  const isOf = (uids: ReadonlySet<string>) => (object: KubeObject) =>
    (object.metadata.ownerReferences ?? []).some(({ uid, controller }) => controller === true && uids.has(uid));
  let owners: ReadonlySet<string> = new Set([metadata.uid]);
  if (kind === Deployment) {
    const { items } = await client.list(ReplicaSet, { namespace });
    owners = new Set(items.filter(isOf(owners)).map((set) => set.metadata.uid));
  }
  const { items } = await client.list(Pod, { namespace });
  const pods = items.filter((pod) => isOf(owners)(pod) && pod.status?.phase === "Running");
  if (pods.length === 0) throw new CommandError(`${text} in the namespace ${namespace} has no running pod`);
  return pods;
}

function metricsPort({ metadata, spec }: ObjectOf<typeof Pod>): number {
  const ports = (spec?.containers ?? []).flatMap((container) => container.ports ?? []);
  const port = ports.find(({ name }) => name === "metrics")?.containerPort;
  if (port === undefined) throw new UsageError(`pod ${metadata.namespace}/${metadata.name} has no port named metrics`);
  return port;
}

/** What managers ask for: with a token for this audience, the pod that sees it can do nothing at the API server. */
const TIMELINE_AUDIENCE = "setpoint.dev/timeline";

/** For ten minutes, the least that servers give. */
async function tokenHeaders(client: Client, account: string | undefined): Promise<Record<string, string>> {
  if (account === undefined) return {};
  const [namespace = "", name] = account.split("/");
  if (!name) throw new UsageError(`--service-account ${account}: expected NAMESPACE/NAME`);
  const answer = await client.createSubresource<{ status: { token: string } }>(ServiceAccount, name, {
    subresource: "token",
    body: {
      apiVersion: "authentication.k8s.io/v1",
      kind: "TokenRequest",
      spec: { expirationSeconds: 600, audiences: [TIMELINE_AUDIENCE] },
    },
    namespace,
  });
  return { "x-setpoint-authorization": `Bearer ${answer.status.token}` };
}

async function* records(body: AsyncIterable<Uint8Array>): AsyncIterable<RunRecord> {
  for await (const line of lines(body)) {
    const record = JSON.parse(line.toString("utf8")) as RunRecord | { readonly dropped: number };
    if (!("dropped" in record)) yield record;
  }
}
