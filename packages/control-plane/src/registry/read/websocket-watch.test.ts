import { once } from "node:events";
import { systemRandom } from "setpoint/clock";
import { ConfigMap } from "setpoint/kinds/v1";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type ControlPlane, controlPlane } from "../../control-plane.js";
import { openWebSocket, type WebSocketAnswer } from "../../websocket/websocket-client.testing.js";

const TOKEN = "of-the-administrator";
const WATCH = "/api/v1/namespaces/kube-public/configmaps?watch=true";

let plane: ControlPlane;
beforeEach(async () => {
  const tokens = new Map([[TOKEN, { name: "admin", groups: ["system:masters"] }]]);
  plane = await controlPlane({ listen: {}, tokens, controllers: false });
});
afterEach(() => plane.stop());

const open = (path = WATCH, headers: Readonly<Record<string, string>> = {}): Promise<WebSocketAnswer> =>
  openWebSocket({
    url: plane.url!,
    path,
    headers: { authorization: `Bearer ${TOKEN}`, ...headers },
    random: systemRandom,
  });

const create = (name: string): Promise<unknown> =>
  plane.client.create(ConfigMap, { metadata: { name, namespace: "kube-public" } });

/** The next `count` events, or all until the end. */
async function eventsOf({ connection }: WebSocketAnswer, count = Number.POSITIVE_INFINITY): Promise<string[]> {
  const seen: string[] = [];
  const messages = connection!.messages();
  while (seen.length < count) {
    const { value, done } = await messages.next();
    if (done) break;
    if (value.type !== "text" || !value.text.endsWith("\n")) throw new Error("not a line of text");
    const { type, object } = JSON.parse(value.text);
    seen.push(`${type} ${object.metadata.name}`);
  }
  return seen;
}

describe("a watch over a WebSocket", () => {
  it("sends each event as a separate text message, and ends with a close", async () => {
    await create("one");
    await create("two");
    const answer = await open();
    expect(answer.status).toBe(101);
    await create("zero");
    const all = ["ADDED one", "ADDED two", "ADDED zero"];
    expect(await eventsOf(answer, 3)).toEqual(all);
    answer.socket.destroy();
    const brief = await open(`${WATCH}&timeoutSeconds=1`);
    const closed = once(brief.socket, "close");
    expect(await eventsOf(brief)).toEqual(all);
    await closed;
  });

  it("is ended by the client, and when the server stops", async () => {
    await create("one");
    const [left, kept] = [await open(), await open()];
    const messages = left.connection!.messages();
    expect((await messages.next()).done).toBe(false);
    left.connection!.close();
    expect((await messages.next()).done).toBe(true);
    const seen = eventsOf(kept);
    await plane.stop();
    expect(await seen).toEqual(["ADDED one"]);
  });

  it("continues after pings, and ignores what it receives", async () => {
    const answer = await open();
    await answer.connection!.send("whatever");
    await create("one");
    expect(await eventsOf(answer, 1)).toEqual(["ADDED one"]);
    answer.socket.destroy();
  });

  it("accepts its token from a subprotocol", async () => {
    const token = `base64url.bearer.authorization.k8s.io.${Buffer.from(TOKEN).toString("base64url")}`;
    const answer = await open(WATCH, { authorization: "", "sec-websocket-protocol": `${token}, spoken` });
    expect([answer.status, answer.headers.get("sec-websocket-protocol")]).toEqual([101, "spoken"]);
    answer.socket.destroy();
    const refused = await open(WATCH, { authorization: "", "sec-websocket-protocol": `${token}x, spoken` });
    expect(refused.status).toBe(401);
    refused.socket.destroy();
  });

  it.each([
    ["no origin", WATCH, { origin: "" }, 403],
    ["several protocols", WATCH, { "sec-websocket-protocol": "a, b" }, 400],
    ["an invalid resourceVersion", `${WATCH}&resourceVersion=x`, {}, 500],
    ["a list, which needs no WebSocket", WATCH.replace("watch=true", "limit=1"), {}, 200],
    ["another protocol than WebSocket", `${WATCH}&timeoutSeconds=1`, { upgrade: "SPDY/3.1" }, 200],
  ])("answers without a WebSocket: %s", async (_what, path, headers, status) => {
    const answer = await open(path, headers);
    expect(answer.status).toBe(status);
    answer.socket.destroy();
  });
});
