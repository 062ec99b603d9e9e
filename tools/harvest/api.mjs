// A minimal HTTPS client for the harvest: one keep-alive agent, JSON in and out, with status and warnings.
import { readFileSync } from "node:fs";
import { Agent, request } from "node:https";

/** The server of a kubeconfig (JSON, as tools/kubernetes/start.mjs writes it). */
export function apiOf(kubeconfigPath) {
  const config = JSON.parse(readFileSync(kubeconfigPath, "utf8"));
  const server = new URL(config.clusters[0].cluster.server);
  const agent = new Agent({
    keepAlive: true,
    ca: Buffer.from(config.clusters[0].cluster["certificate-authority-data"], "base64"),
  });
  const authorization = `Bearer ${config.users[0].user.token}`;

  /** Resolves with `{ status, headers, body }` for any status; `body` is parsed if it is JSON. */
  function call(method, path, { body, headers } = {}) {
    return new Promise((resolve, reject) => {
      const sent = body === undefined ? undefined : JSON.stringify(body);
      const outgoing = request(
        {
          host: server.hostname,
          port: server.port,
          agent,
          method,
          path,
          headers: {
            authorization,
            accept: "application/json",
            ...(sent ? { "content-type": "application/json" } : {}),
            ...headers,
          },
        },
        (response) => {
          const chunks = [];
          response.on("data", (chunk) => chunks.push(chunk));
          response.on("end", () => {
            const text = Buffer.concat(chunks).toString("utf8");
            resolve({ status: response.statusCode, headers: response.headers, body: parsed(text) });
          });
        },
      );
      outgoing.on("error", reject);
      outgoing.end(sent);
    });
  }

  /** A GET that must succeed. */
  async function get(path, headers) {
    const answer = await call("GET", path, { headers });
    if (answer.status !== 200) throw new Error(`GET ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  }

  return { call, get, close: () => agent.destroy() };
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** The path of a resource's collection; namespaced ones in `namespace`, or across all namespaces if it is undefined. */
export function collectionPath({ group, version, plural, namespaced }, namespace) {
  const root = group === "" ? `/api/${version}` : `/apis/${group}/${version}`;
  return namespaced && namespace ? `${root}/namespaces/${namespace}/${plural}` : `${root}/${plural}`;
}
