import { once } from "node:events";
import { type ClientHttp2Session, connect as connectHttp2, type IncomingHttpHeaders } from "node:http2";
import { connect } from "node:tls";
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
  // Not `edit`, whose rules are added up by a loop that begins after the server listens.
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

async function session(): Promise<ClientHttp2Session> {
  const opened = connectHttp2(plane.url!, { rejectUnauthorized: false });
  opened.on("error", () => {});
  await once(opened, "connect");
  return opened;
}

/** A POST whose body is announced and not sent; resolves to the head of its answer. */
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

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

describe("a request over a socket", () => {
  it("is refused by its head: nobody waits for the body of whoever may not send one [R8]", async () => {
    const opened = await session();
    expect((await announced(opened, bearer("made-up")))[":status"]).toBe(401);
    expect((await announced(opened, {}))[":status"]).toBe(403);
    expect((await announced(opened, bearer("zero-token")))[":status"]).toBe(403);
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
    const head = await announced(opened, bearer("editor-token"));
    expect([head[":status"], head["retry-after"]]).toEqual([429, "1"]);
    // The real server answers so, before it knows what representation is wanted.
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
      const list = opened.request({ ":path": CONFIG_MAPS, ...bearer("editor-token") });
      status = ((await once(list, "response")) as [IncomingHttpHeaders])[0][":status"];
      list.close();
    }
    expect(status).toBe(200);
    expect(logged).toEqual([]);
    opened.destroy();
    others.destroy();
  });

  it("lets a watch go uncounted once it runs [R8]", async () => {
    const opened = await session();
    for (let count = 0; count < 120; count++) {
      const watch = opened.request({ ":path": `${CONFIG_MAPS}?watch=true`, ...bearer("editor-token") });
      const [head] = (await once(watch, "response")) as [IncomingHttpHeaders];
      expect(head[":status"]).toBe(200);
    }
    opened.destroy();
  });

  it("that claims another version of HTTP is answered, and is no error of the server's [R14]", async () => {
    const socket = connect({ host: "127.0.0.1", port: Number(new URL(plane.url!).port), rejectUnauthorized: false });
    await once(socket, "secureConnect");
    socket.write("GET /healthz HTTP/2.0\r\nhost: a\r\n\r\n");
    let text = "";
    for await (const chunk of socket) text += String(chunk);
    expect(text).toMatch(/^HTTP\/1\.1 (505|400) /);
    expect(logged).toEqual([]);
  });

  it("cannot choose the address of the keys that others get [R16]", async () => {
    const opened = await session();
    const stream = opened.request({ ":path": "/.well-known/openid-configuration", ":authority": "evil.example" });
    let text = "";
    for await (const chunk of stream) text += String(chunk);
    opened.destroy();
    expect(text).not.toContain("evil.example");
  });
});
