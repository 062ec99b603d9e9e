import type { IncomingMessage } from "node:http";
import { expect, it } from "vitest";
import { listModels, modelListOf } from "./list-models.js";
import { listen } from "./mcp-servers.testing.js";

const never = new AbortController().signal;
const serve = (body: string, status = 200) =>
  listen((request, response) => {
    request.resume();
    response.writeHead(status, { "content-type": "application/json" }).end(body);
  });

it.each([
  ["OpenAI", { data: [{ id: "b" }, { id: "a" }, { id: "b" }] }, "/v1/models", { authorization: "Bearer k" }],
  ["Anthropic", { data: [{ id: "a" }, { id: "b" }] }, "/v1/v1/models?limit=1000", { "x-api-key": "k" }],
  ["Ollama", { models: [{ name: "b" }, { name: "a" }] }, "/v1/api/tags", {}],
  [
    "Gemini",
    { models: [{ name: "models/a" }, { name: "models/b" }] },
    "/v1/v1beta/models?pageSize=1000",
    { "x-goog-api-key": "k" },
  ],
] as const)("%s: lists its models by name, sorted", async (type, answer, path, headers) => {
  await using server = await serve(JSON.stringify(answer));
  const target = modelListOf(type, `${server.url.replace("/mcp", "")}/v1/`, "k")!;
  expect(await listModels(target, never, () => {})).toEqual(["a", "b"]);
  const [request] = server.requests as readonly IncomingMessage[];
  expect(request!.url).toBe(path);
  expect(request!.headers).toMatchObject(headers);
});

it.each([
  ["401", "", 401, "MCP_UNAUTHORIZED"],
  ["500", "", 500, "MCP_HTTP_STATUS"],
  ["no JSON", "<p>", 200, "MCP_PROTOCOL"],
  ["no list", "{}", 200, "MCP_PROTOCOL"],
  ["too much", `{"data":["${"x".repeat(5_000_000)}"]}`, 200, "MCP_TOO_LARGE"],
])("a response with %s has its own error, without the key", async (_, body, status, code) => {
  await using server = await serve(body, status);
  const target = modelListOf("OpenAI", server.url, "sk-secret-key")!;
  const failure = listModels(target, never, () => {});
  await expect(failure).rejects.toMatchObject({ code, message: expect.not.stringContaining("sk-secret-key") });
});
