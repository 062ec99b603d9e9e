import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { type Client, connect, findCondition } from "setpoint";
import { type OptionValues, UsageError } from "setpoint/command";
import { TokenReview } from "setpoint/kinds/authentication.k8s.io/v1";
import { SubjectAccessReview } from "setpoint/kinds/authorization.k8s.io/v1";
import { parseAddress } from "setpoint/manager";
import type { Store } from "./database/store.js";
import { Agent } from "./kinds/agent.js";
import { ModelConfig } from "./kinds/model-config.js";
import { agentKey, pythonIdentifier } from "./translate/agent-config.js";

/** Authorizes a request. Resolves to undefined if it is allowed, or else to the HTTP status. */
export type Guard = (request: IncomingMessage, url: URL) => Promise<401 | 403 | undefined>;

/** The sources of the API: the database for tools, the API server for agents. */
export interface ApiSources {
  readonly store: Store;
  readonly client: Client;
  /** Limits the answers to these namespaces. Defaults to all. */
  readonly namespaces?: readonly string[] | undefined;
}

interface Answer {
  readonly status: number;
  readonly body: object;
}

const LOOPBACK = new Set(["127.0.0.1", "::1", "localhost"]);
const NAMESPACE = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

/** Omits an empty list, as kagent does. */
const listed = (data: readonly object[], what: string): Answer => ({
  status: 200,
  body: { error: false, ...(data.length > 0 ? { data } : {}), message: `Successfully listed ${what}` },
});
const failed = (status: number, error: string): Answer => ({ status, body: { error } });

/** The part of kagent's REST API that reads the operator's data. Every replica answers, not only the leader. */
export async function answerApi(sources: ApiSources, path: string, query: URLSearchParams): Promise<Answer> {
  const { store } = sources;
  switch (path) {
    case "/api/agents": {
      const namespace = query.get("namespace") || undefined;
      if (namespace !== undefined && !NAMESPACE.test(namespace)) {
        return failed(400, `invalid namespace ${JSON.stringify(namespace)}: a lowercase RFC 1123 label is expected`);
      }
      return listed(await agentAnswers(sources, namespace), "agents");
    }
    case "/api/tools": {
      const rows = (await store.tools()).map((tool) => ({
        id: tool.name,
        server_name: tool.server,
        group_kind: tool.groupKind,
        created_at: tool.createdAt,
        updated_at: tool.updatedAt,
        deleted_at: null,
        description: tool.description,
      }));
      return listed(rows, "tools");
    }
    case "/api/toolservers": {
      const tools = await store.tools();
      const rows = (await store.servers()).map(({ name, groupKind }) => ({
        ref: name,
        groupKind,
        discoveredTools: tools
          .filter((tool) => tool.server === name && tool.groupKind === groupKind)
          .map((tool) => ({ name: tool.name, description: tool.description })),
      }));
      return listed(rows, "ToolServers");
    }
    default:
      return failed(404, `no such path: ${path}`);
  }
}

async function agentAnswers({ client, namespaces }: ApiSources, asked: string | undefined): Promise<readonly object[]> {
  const scopes = asked === undefined ? (namespaces ?? [undefined]) : [asked];
  const answers = scopes.map(async (namespace) => {
    const options = namespace === undefined ? {} : { namespace };
    const [agents, models] = await Promise.all([client.list(Agent, options), client.list(ModelConfig, options)]);
    const byKey = new Map(models.items.map((model) => [agentKey(model as never), model]));
    return agents.items.map((agent) => agentAnswer(agent, byKey));
  });
  return (await Promise.all(answers)).flat();
}

function agentAnswer(agent: Agent, models: ReadonlyMap<string, ModelConfig>): object {
  const { apiVersion, kind, metadata, spec, status } = agent;
  const { managedFields: _managed, ...shown } = metadata as typeof metadata & { readonly managedFields?: unknown };
  const declarative = spec.type === "Declarative" ? spec.declarative : undefined;
  const ref = `${metadata.namespace}/${declarative?.modelConfig}`;
  const model = declarative && models.get(ref);
  const ready = findCondition(status?.conditions, "Ready");
  return {
    id: pythonIdentifier(agentKey(agent)),
    agent: { apiVersion, kind, metadata: shown, spec, status: status ?? {} },
    modelProvider: model?.spec.provider ?? "",
    model: model?.spec.model ?? "",
    modelConfigRef: model ? ref : "",
    memoryRefs: null,
    tools: (model && declarative.tools) ?? null,
    deploymentReady: ready?.status === "True" && ready.reason === "DeploymentReady",
    accepted: findCondition(status?.conditions, "Accepted")?.status === "True",
    workloadMode: "deployment",
  };
}

/** Serves the API until disposed. */
export async function startApi(
  sources: ApiSources,
  host: string,
  port: number,
  guard: Guard,
): Promise<AsyncDisposable & { readonly url: string }> {
  const answer = async (request: IncomingMessage): Promise<Answer> => {
    try {
      const url = new URL(request.url ?? "/", "http://api");
      const refused = await guard(request, url);
      if (refused) return failed(refused, refused === 401 ? "Unauthorized" : "Forbidden");
      if (request.method !== "GET") return failed(405, "this API is read-only: change the Kubernetes objects");
      return await answerApi(sources, url.pathname.replace(/\/$/, ""), url.searchParams);
    } catch {
      return failed(500, "could not read the database or the API server");
    }
  };
  const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { status, body } = await answer(request);
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  };
  const server = createServer((request, response) => void respond(request, response));
  // Open connections must not keep the process alive after the manager ends.
  server.on("connection", (socket) => socket.unref()).unref();
  await new Promise<void>((resolve, reject) => server.once("error", reject).listen(port, host, resolve));
  const address = server.address() as { readonly port: number };
  return {
    url: `http://${host.includes(":") ? `[${host}]` : host}:${address.port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Serves the API. Local callers may read; the API server reviews the tokens of all others. */
export async function serveApi(
  sources: Omit<ApiSources, "client">,
  address: string,
  values: OptionValues,
  env: Readonly<Record<string, string | undefined>>,
): Promise<void> {
  if (address === "0") return;
  const { host, port } = listenAddress(address);
  const given = (["kubeconfig", "context"] as const).filter((name) => typeof values[name] === "string");
  const client = await connect({ env, ...Object.fromEntries(given.map((name) => [name, String(values[name])])) });
  const guard = LOOPBACK.has(host) ? fromThisMachine : reviewed(client);
  await startApi({ ...sources, client }, host === "" ? "::" : host, port, guard);
}

function listenAddress(address: string): { readonly host: string; readonly port: number } {
  try {
    return parseAddress(address)!;
  } catch (cause) {
    throw new UsageError(`--api-bind-address: ${(cause as Error).message}`, { cause });
  }
}

/** Allows local callers only. Checks the Host header against DNS rebinding by pages in a local browser. */
export const fromThisMachine: Guard = async ({ headers, socket }) => {
  const isHere = /^(::ffff:)?127\.|^::1$/.test(socket.remoteAddress ?? "");
  const named = (headers.host ?? "").replace(/:\d+$/, "").replace(/^\[|\]$/g, "");
  return isHere && LOOPBACK.has(named) ? undefined : 403;
};

/** To read a path, a caller must be allowed to list these resources. */
const RESOURCES: Readonly<Record<string, readonly string[]>> = {
  "/api/tools": ["remotemcpservers", "mcpservers"],
  "/api/toolservers": ["remotemcpservers", "mcpservers"],
};

/**
 * Authenticates the token with a TokenReview, and authorizes the user to list the resources behind the path. Caches
 * nothing. Does not authorize the path itself, because every cluster lets all authenticated users get `/api/*`.
 */
export function reviewed(client: Client): Guard {
  return async ({ headers }, { pathname, searchParams }) => {
    const token = /^Bearer (\S+)$/i.exec(headers.authorization ?? "")?.[1];
    if (token === undefined) return 401;
    const { status } = await client.create(TokenReview, { metadata: {}, spec: { token } } as never);
    const user = status?.authenticated ? status.user : undefined;
    if (!user) return 401;
    const resources = RESOURCES[pathname.replace(/\/$/, "")];
    const namespace = resources ? "" : (searchParams.get("namespace") ?? "");
    for (const resource of resources ?? ["agents"]) {
      const resourceAttributes = { group: "kagent.dev", resource, verb: "list", namespace };
      const spec = { user: user.username, uid: user.uid, groups: user.groups, extra: user.extra, resourceAttributes };
      const review = await client.create(SubjectAccessReview, { metadata: {}, spec } as never);
      if (!review.status?.allowed) return 403;
    }
    return undefined;
  };
}
