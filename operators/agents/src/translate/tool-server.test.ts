import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { agent, configMap, mcpServer, model, object, remoteServer, secret, translated, uses } from "./case.testing.js";

const httpTools = async (objects: readonly object[], head: object = {}, settings: object = {}) =>
  (await translated([model(), ...objects], head, settings)).config.http_tools as readonly { params: object }[];
const usesRemote = (more: object = {}, tool: object = {}) =>
  agent({ tools: [uses("RemoteMCPServer", "r", more, tool)] });
const service = (spec: object, annotations: object = {}) => object("Service", "v", { spec }, { annotations });
const usesService = agent({ tools: [uses("Service", "v")] });

describe("tools of a RemoteMCPServer", () => {
  it("every field of a Streamable HTTP server, in kagent's order", async () => {
    const server = remoteServer({
      protocol: "STREAMABLE_HTTP",
      timeout: "1m30s",
      sseReadTimeout: "5m0s",
      terminateOnClose: false,
      tls: { disableVerify: true },
      headersFrom: [{ name: "b", value: "2" }],
    });
    const { text } = await translated([
      model(),
      server,
      usesRemote(
        { toolNames: ["t", "u"], allowedHeaders: ["x"], requireApproval: ["u"] },
        { headersFrom: [{ name: "a", value: "1" }] },
      ),
    ]);
    expect(text).toContain(
      '"http_tools":[{"params":{"url":"https://x/mcp","headers":{"a":"1","b":"2"},"timeout":90,"sse_read_timeout":300,"terminate_on_close":false,"tls_insecure_skip_verify":true,"tls_disable_system_cas":false},"tools":["t","u"],"allowed_headers":["x"],"require_approval":["u"]}]',
    );
  });

  it("a server with SSE is listed separately, and ends no sessions", async () => {
    const server = remoteServer({
      url: "https://x/sse",
      protocol: "SSE",
      sseReadTimeout: "1.5s",
      terminateOnClose: true,
    });
    const { text } = await translated([model(), server, usesRemote()]);
    expect(text).toContain('"sse_tools":[{"params":{"url":"https://x/sse","headers":{},"sse_read_timeout":1.5}}]');
    expect(text).not.toContain("http_tools");
  });

  it("CAs are mounted once per Secret; a name that is invalid for a volume is hashed", async () => {
    const tls = (caCertSecretRef: string) => ({ tls: { caCertSecretRef, caCertSecretKey: "ca.crt" } });
    const hashed = createHash("sha256").update("ca.one").digest("hex").slice(0, 8);
    const found = await translated([
      model({ provider: "OpenAI", ...tls("ca.one") }),
      remoteServer(tls("ca.one")),
      usesRemote(),
    ]);
    const volumes = found.pod.spec.volumes.filter(({ name }) => name.startsWith("tls-ca-"));
    expect(volumes).toEqual([{ name: `tls-ca-${hashed}`, secret: { secretName: "ca.one", defaultMode: 0o444 } }]);
    expect(found.config.http_tools).toMatchObject([
      { params: { tls_ca_cert_path: `/etc/ssl/certs/custom/${hashed}/ca.crt` } },
    ]);
    const long = "a".repeat(60);
    const other = await translated([model(), remoteServer(tls(long)), usesRemote()]);
    const name = `tls-ca-${createHash("sha256").update(long).digest("hex").slice(0, 8)}`;
    expect(other.pod.spec.volumes).toContainEqual({ name, secret: { secretName: long, defaultMode: 0o444 } });
  });

  it("headers come from the server's namespace, then from the agent's, which override them", async () => {
    const from = (type: string, name: string, key: string) => ({ valueFrom: { type, name, key } });
    const inOther = (what: ReturnType<typeof secret>) => ({
      ...what,
      metadata: { ...what.metadata, namespace: "other" },
    });
    const server = inOther(
      remoteServer({
        headersFrom: [
          { name: "A", ...from("Secret", "s", "k") },
          { name: "B", ...from("ConfigMap", "c", "k") },
        ],
      }) as never,
    );
    const [tool] = await httpTools([
      inOther(secret({ k: "theirs" })),
      secret({ k: "ours" }),
      inOther(configMap({ k: "map" }) as never),
      server,
      usesRemote({ namespace: "other" }, { headersFrom: [{ name: "A", ...from("Secret", "s", "k") }] }),
    ]);
    expect(tool?.params).toMatchObject({ headers: { A: "ours", B: "map" } });
  });

  it("a hash of its CA counts for the rollout, an invalid one does not", async () => {
    const hash = async (secretHash: string) =>
      (await translated([model(), remoteServer({}, {}, { secretHash }), usesRemote()])).pod.metadata.annotations[
        "kagent.dev/config-hash"
      ];
    expect(await hash("aa")).not.toBe(await hash(""));
    expect(await hash("zz")).toBe(await hash(""));
  });

  it.each([
    ["http://r.ns:8080/mcp?a=1#b", "http://proxy:80/mcp", "r.ns"],
    ["http://r.ns.svc.cluster.local/mcp", "http://proxy:80/mcp", "r.ns.svc.cluster.local"],
    ["https://mcp.example.com/mcp", "https://mcp.example.com/mcp", undefined],
    ["http://localhost:1/mcp", "http://localhost:1/mcp", undefined],
  ])("through a proxy: %s", async (url, target, host) => {
    const server = remoteServer({ url }, { namespace: "com-is-no-namespace" });
    const [tool] = await httpTools([server, usesRemote({ namespace: "com-is-no-namespace" })], {
      proxyURL: "http://proxy:80/ignored",
    });
    expect(tool?.params).toEqual({ url: target, headers: host === undefined ? {} : { "x-kagent-host": host } });
  });

  it.each([
    ["https://e.com/mcp?a=1", "http://e.com:443/mcp?a=1"],
    ["https://e.com:8443/mcp", "http://e.com:8443/mcp"],
    ["http://e.com/mcp", "http://e.com:80/mcp"],
    ["https://[::1]/mcp", "http://[::1]:443/mcp"],
  ])("uses plain HTTP if the egress makes the TLS connection: %s", async (url, target) => {
    const [tool] = await httpTools([remoteServer({ url }), usesRemote()], {}, { plaintextEgress: true });
    expect(tool?.params).toMatchObject({ url: target });
  });
});

describe("tools of other servers", () => {
  it.each([
    [{ deployment: { port: 3000 } }, { url: "http://k.ns:3000/mcp", headers: {}, timeout: 30 }],
    [
      { deployment: { port: 8080 }, timeout: "45s" },
      { url: "http://k.ns:8080/mcp", headers: {}, timeout: 45 },
    ],
  ])("MCPServer %j", async (spec, params) => {
    for (const reference of [
      uses("MCPServer", "k"),
      uses("MCPServer", "k", { apiGroup: "kagent.dev" }),
      { type: "McpServer", mcpServer: { name: "k" } },
    ]) {
      expect(await httpTools([mcpServer(spec), agent({ tools: [reference] })])).toMatchObject([{ params }]);
    }
  });

  it.each([
    ["its one port", { ports: [{ port: 7 }] }, {}, "http://v.ns:7/mcp"],
    [
      "the port of the protocol mcp",
      { ports: [{ port: 1 }, { port: 2, appProtocol: "MCP" }] },
      {},
      "http://v.ns:2/mcp",
    ],
    [
      "annotations",
      { ports: [{ port: 1 }, { port: 2 }] },
      { "kagent.dev/mcp-service-port": "9", "kagent.dev/mcp-service-path": "/x" },
      "http://v.ns:9/x",
    ],
    [
      "an invalid protocol",
      { ports: [{ port: 7 }] },
      { "kagent.dev/mcp-service-protocol": "sse" },
      "http://v.ns:7/mcp",
    ],
  ])("Service by %s", async (_, spec, annotations, url) => {
    expect(await httpTools([service(spec, annotations), usesService])).toMatchObject([
      { params: { url, headers: {} } },
    ]);
  });

  it("a Service with the protocol SSE is listed separately", async () => {
    const { config } = await translated([
      model(),
      service({ ports: [{ port: 7 }] }, { "kagent.dev/mcp-service-protocol": "SSE" }),
      usesService,
    ]);
    expect(config.sse_tools).toMatchObject([{ params: { url: "http://v.ns:7/mcp" } }]);
  });

  it.each([
    [
      "port 0",
      [mcpServer({ deployment: { port: 0 } }), agent({ tools: [uses("MCPServer", "k")] })],
      "cannot determine port",
    ],
    ["two ports", [service({ ports: [{ port: 1 }, { port: 2 }] }), usesService], "no port found"],
    [
      "a port that is no number",
      [service({ ports: [{ port: 1 }] }, { "kagent.dev/mcp-service-port": "abc" }), usesService],
      "not a valid integer",
    ],
    [
      "a path that makes no URL, where a proxy has to know its parts,",
      [service({ ports: [{ port: 1 }] }, { "kagent.dev/mcp-service-path": "sse" }), usesService],
      'failed to parse original URL "http://v.ns:1sse"',
    ],
    ["an unknown kind", [agent({ tools: [uses("Pod", "p")] })], "unknown tool server type: Pod"],
    ["nothing", [agent({ tools: [{ type: "McpServer" }] })], "tool must have a provider or tool server"],
    [
      "a header's missing key",
      [
        secret({ k: "v" }),
        remoteServer({ headersFrom: [{ name: "h", valueFrom: { type: "Secret", name: "s", key: "no" } }] }),
        usesRemote(),
      ],
      'Secret ns/s has no key "no"',
    ],
  ])("%s is refused", async (_, objects, message) => {
    await expect(httpTools(objects, { proxyURL: "http://proxy" })).rejects.toThrow(message);
  });
});

describe("agents as tools", () => {
  const other = (spec: object) => object("Agent", "b-c", { spec: { description: "helps", ...spec } });
  const declarative = { type: "Declarative", declarative: { systemMessage: "m", modelConfig: "m" } };

  it.each([
    ["declarative", other(declarative)],
    ["of one's own image", other({ type: "BYO", byo: { deployment: { image: "i" } } })],
  ])("%s", async (_, tool) => {
    const parent = agent({
      tools: [
        { type: "Agent", agent: { name: "b-c" }, isolateSessions: true, headersFrom: [{ name: "h", value: "v" }] },
      ],
    });
    const { text } = await translated([model(), tool, parent]);
    expect(text).toContain(
      '"remote_agents":[{"name":"ns__NS__b_c","url":"http://b-c.ns:8080","headers":{"h":"v"},"description":"helps","isolate_sessions":true}]',
    );
  });

  it("through a proxy", async () => {
    const parent = agent({ tools: [{ type: "Agent", agent: { name: "b-c", kind: "Agent" } }] });
    const { config } = await translated([model(), other(declarative), parent], { proxyURL: "https://proxy" });
    expect(config.remote_agents).toEqual([
      { name: "ns__NS__b_c", url: "https://proxy", headers: { "x-kagent-host": "b-c.ns" }, description: "helps" },
    ]);
  });
});
