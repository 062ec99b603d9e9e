// outside.mjs FOLDER: the environment of the operator in its own process: a control plane, a server that never answers,
// and an MCP server that does. Prints their addresses as JSON.
import { writeFileSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import { createServer } from "node:net";
import { join } from "node:path";
import { controlPlane } from "../../packages/control-plane/dist/index.js";

const [folder] = process.argv.slice(2);
const plane = await controlPlane({ listen: { host: "127.0.0.1", port: 0 } });
const kubeconfig = join(folder, "kubeconfig");
writeFileSync(kubeconfig, plane.kubeconfig);

const hung = createServer(() => {});
const healthy = createHttpServer(async (request, response) => {
  let body = "";
  for await (const chunk of request) body += chunk;
  const { id, method } = body === "" ? {} : JSON.parse(body);
  if (id === undefined) return response.writeHead(202).end();
  const result =
    method === "initialize"
      ? { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: "bench", version: "1" } }
      : { tools: [{ name: "t", inputSchema: { type: "object" } }] };
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ jsonrpc: "2.0", id, result }));
});
const port = (server, host) => new Promise((resolve) => server.listen(0, host, () => resolve(server.address().port)));
// Every address of 127.0.0.0/8 leads to the hanging server, so that each target has its own host.
console.log(
  JSON.stringify({ kubeconfig, hung: await port(hung, "0.0.0.0"), healthy: await port(healthy, "127.0.0.1") }),
);
