import { once } from "node:events";
import { type ClientHttp2Session, connect as connectHttp2, type IncomingHttpHeaders } from "node:http2";
import { connect } from "node:tls";
import { http1Transport, http2Transport } from "setpoint/client";
import { systemClock } from "setpoint/clock";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type ControlPlane, controlPlane } from "../control-plane.js";

const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";
const tokens = new Map([
  ["zero-token", { name: "zero", groups: [] }],
  ["editor-token", { name: "editor", groups: ["editors"] }],
]);

let plane: ControlPlane;
const logged: string[] = [];
beforeEach(async () => {
  logged.length = 0;
  plane = await controlPlane({ listen: {}, tokens, log: (message) => logged.push(message) });
  // Not `edit`, whose rules are aggregated by a loop that starts after the server listens.
  const rules = [{ apiGroups: [""], resources: ["configmaps"], verbs: ["*"] }];
  await grant("clusterroles", { metadata: { name: "editors" }, rules });
  await grant("clusterrolebindings", {
    metadata: { name: "editors" },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "editors" },
    subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "Group", name: "editors" }],
  });
});

async function grant(resource: string, object: object): Promise<void> {
  const { status } = await plane.client.raw({
    method: "POST",
    path: `/apis/rbac.authorization.k8s.io/v1/${resource}`,
    headers: { "content-type": "application/json" },
    body: Buffer.from(JSON.stringify(object)),
  });
  expect(status).toBe(201);
}
afterEach(() => plane.stop());

/** The CA of the server's certificate. */
function authority(): string {
  const [, data] = /certificate-authority-data: (\S+)/.exec(plane.kubeconfig!)!;
  return Buffer.from(data!, "base64").toString();
}

async function session(): Promise<ClientHttp2Session> {
  // Megabytes, because data waiting to be sent counts, too.
  const opened = connectHttp2(plane.url!, { rejectUnauthorized: false, maxSessionMemory: 4096 });
  opened.on("error", () => {});
  await once(opened, "connect");
  return opened;
}

/** A POST whose body is announced and not sent; resolves to the head of its response. */
async function announced(on: ClientHttp2Session, headers: Record<string, string>): Promise<IncomingHttpHeaders> {
  const stream = on.request({
    ":method": "POST",
    ":path": CONFIG_MAPS,
    "content-type": "application/json",
    ...headers,
  });
  stream.on("error", () => {});
  stream.write("{");
  const [head] = (await once(stream, "response")) as [IncomingHttpHeaders];
  stream.destroy();
  return head;
}

/** The role that allows reading the token issuer's configuration. */
const ISSUER_DISCOVERY = "system:service-account-issuer-discovery";

async function textOf(stream: AsyncIterable<unknown>): Promise<string> {
  let text = "";
  for await (const chunk of stream) text += String(chunk);
  return text;
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

describe("a request over a socket", () => {
  it("is refused by its head, without waiting for the body of a client that may not send one [R8]", async () => {
    for (const [headers, status] of [
      [bearer("made-up"), 401],
      [{}, 403],
      [bearer("zero-token"), 403],
    ] as const) {
      const opened = await session();
      expect((await announced(opened, headers))[":status"]).toBe(status);
      opened.destroy();
    }
  });

  it.each([
    ["without credentials", {}],
    ["with a wrong token", bearer("made-up")],
  ])("%s is the last one on its HTTP/2 connection, as on the real server", async (_what, headers) => {
    const opened = await session();
    const goaway = once(opened, "goaway");
    const request = opened.request({ ":path": "/healthz", ...headers });
    await once(request, "response");
    await goaway;
    opened.destroy();
  });

  it("waits at the client beyond a hundred on one HTTP/2 connection, as on the real server", async () => {
    const opened = await session();
    if (opened.remoteSettings.maxConcurrentStreams !== 100) await once(opened, "remoteSettings");
    expect(opened.remoteSettings.maxConcurrentStreams).toBe(100);
    opened.destroy();
  });

  it("is refused with 429 beyond the share of its user, while others are answered [R8]", async () => {
    const opened = await session();
    const held = Array.from({ length: 100 }, () => {
      const stream = opened.request({ ":method": "POST", ":path": CONFIG_MAPS, ...bearer("editor-token") });
      stream.on("error", () => {});
      stream.write("{");
      return stream;
    });
    const more = await session();
    const head = await announced(more, bearer("editor-token"));
    expect([head[":status"], head["retry-after"]]).toEqual([429, "1"]);
    // Like the real server, which answers before it negotiates the representation.
    expect(head["content-type"]).toBe("text/plain; charset=utf-8");
    const others = await session();
    expect((await announced(others, bearer("zero-token")))[":status"]).toBe(403);
    const healthy = others.request({ ":path": "/healthz" });
    expect(((await once(healthy, "response")) as [IncomingHttpHeaders])[0][":status"]).toBe(200);
    const admin = await plane.client.raw({ method: "GET", path: CONFIG_MAPS });
    expect(admin.status).toBe(200);
    for (const stream of held) stream.close();
    let status: unknown = 429;
    for (let tries = 0; status === 429 && tries < 200; tries++) {
      await systemClock.sleep(5);
      const list = more.request({ ":path": CONFIG_MAPS, ...bearer("editor-token") });
      status = ((await once(list, "response")) as [IncomingHttpHeaders])[0][":status"];
      list.close();
    }
    expect(status).toBe(200);
    expect(logged).toEqual([]);
    for (const each of [opened, more, others]) each.destroy();
  });

  it("does not count a watch once it runs [R8]", async () => {
    const opened = [await session(), await session()];
    for (let count = 0; count < 120; count++) {
      const watch = opened[count % 2]!.request({ ":path": `${CONFIG_MAPS}?watch=true`, ...bearer("editor-token") });
      const [head] = (await once(watch, "response")) as [IncomingHttpHeaders];
      expect(head[":status"]).toBe(200);
    }
    for (const each of opened) each.destroy();
  });

  it("that claims another version of HTTP is answered, and is no server error [R14]", async () => {
    const socket = connect({ host: "127.0.0.1", port: Number(new URL(plane.url!).port), rejectUnauthorized: false });
    await once(socket, "secureConnect");
    socket.write("GET /healthz HTTP/2.0\r\nhost: a\r\n\r\n");
    expect(await textOf(socket)).toMatch(/^HTTP\/1\.1 (505|400) /);
    expect(logged).toEqual([]);
  });

  it("cannot choose the key address that others get from a cache [R16]", async () => {
    const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: ISSUER_DISCOVERY };
    const subjects = [{ apiGroup: "rbac.authorization.k8s.io", kind: "Group", name: "editors" }];
    await grant("clusterrolebindings", { metadata: { name: "discovery" }, roleRef, subjects });
    const opened = await session();
    const path = "/.well-known/openid-configuration";
    const answers: string[] = [];
    for (const authority of ["evil.example", new URL(plane.url!).host]) {
      const stream = opened.request({ ":path": path, ":authority": authority, ...bearer("editor-token") });
      const [head] = (await once(stream, "response")) as [IncomingHttpHeaders];
      expect([head[":status"], head["cache-control"]]).toEqual([200, "public, max-age=3600"]);
      answers.push(await textOf(stream));
    }
    opened.destroy();
    expect(answers[0]).toBe(answers[1]);
    expect(JSON.parse(answers[0]!).jwks_uri).toBe(`${plane.url}/openid/v1/jwks`);
  });

  it.each([
    ["HTTP/1.1", 2_000],
    ["HTTP/2", 20_000],
  ] as const)(
    "with a field manager of invalid characters gets a short response over %s, even if it may only review itself [R3]",
    async (version, count) => {
      const path = `/apis/authorization.k8s.io/v1/selfsubjectaccessreviews?fieldManager=${"%01".repeat(count)}`;
      const open = version === "HTTP/2" ? http2Transport : http1Transport;
      await using transport = open({ server: plane.url!, clock: systemClock, tls: { ca: authority() } });
      const headers = { "content-type": "application/json", ...bearer("zero-token") };
      const body = Buffer.from('{"spec":{}}');
      const response = await transport.request({ method: "POST", path, headers, body });
      expect(response.status).toBe(422);
      let bytes = 0;
      for await (const chunk of response.body) bytes += chunk.byteLength;
      expect(bytes).toBeLessThan(2 ** 20);
    },
  );

  it.each([
    ["nobody", {}, [403, 429]],
    ["somebody without a role", bearer("zero-token"), [403, 429]],
    ["somebody who may send them", bearer("editor-token"), [400, 429]],
  ] as const)("with a large body is not kept in memory for 900 others of %s [R8]", async (_who, headers, statuses) => {
    const opened = await Promise.all(Array.from({ length: 9 }, session));
    const part = Buffer.alloc(2 ** 20, "x");
    const before = process.memoryUsage().rss;
    let most = before;
    const watching = setInterval(() => {
      most = Math.max(most, process.memoryUsage().rss);
    }, 5);
    const answered = Array.from({ length: 900 }, async (_, at) => {
      const stream = opened[at % 9]!.request({ ":method": "POST", ":path": CONFIG_MAPS, ...headers });
      // The server resets the stream if it does not read the body.
      stream.on("error", () => {});
      for (let count = 0; count < 3; count++) stream.write(part);
      stream.end();
      stream.resume();
      // Or Node's own limit per connection closes it.
      return new Promise<unknown>((resolve) => {
        stream.on("response", (head) => resolve(head[":status"])).on("close", () => resolve(statuses[0]));
      });
    });
    const found = new Set(await Promise.all(answered));
    clearInterval(watching);
    for (const each of opened) each.destroy();
    expect([...found].filter((status) => !statuses.includes(status as never))).toEqual([]);
    // Without limits it grew by 2.1 GB. Both ends of the connection are in this process.
    expect((most - before) / 2 ** 20).toBeLessThan(500);
    expect(logged).toEqual([]);
  });
});
