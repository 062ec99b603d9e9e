import { systemClock } from "setpoint/clock";
import { expect, it } from "vitest";
import { openStore } from "./database/open-store.js";
import { fromThisMachine, startApi } from "./rest-api.js";

const SERVER = { name: "ns/s", groupKind: "Service" };

it("agents, tools and tool servers are read from the database", async () => {
  await using store = await openStore(":memory:", systemClock);
  await store.putAgent({ id: "ns__NS__a", uid: "1", type: "BYO", config: '{"model":null}' });
  await store.putServer({ ...SERVER, uid: "1", description: "N/A" });
  await store.replaceTools(SERVER, "1", [{ name: "t", description: "does t" }], "2026-01-01T00:00:00Z");
  await using api = await startApi(store, "127.0.0.1", 0, fromThisMachine);
  const get = async (path: string) => (await fetch(`${api.url}${path}`)).json();
  expect(await get("/api/agents")).toEqual({
    error: false,
    data: [{ id: "ns__NS__a", type: "BYO", config: { model: null } }],
    message: "",
  });
  expect(await get("/api/tools")).toMatchObject({ data: [{ id: "t", server_name: "ns/s", group_kind: "Service" }] });
  expect(await get("/api/toolservers")).toMatchObject({
    data: [{ ref: "ns/s", groupKind: "Service", discoveredTools: [{ name: "t", description: "does t" }] }],
  });
  expect((await fetch(`${api.url}/api/nothing`)).status).toBe(404);
  expect((await fetch(`${api.url}/api/agents`, { method: "POST" })).status).toBe(405);
});

it("a caller who may not read is refused before anything is read", async () => {
  await using store = await openStore(":memory:", systemClock);
  await using closed = await startApi(store, "127.0.0.1", 0, async ({ headers }) =>
    headers.authorization ? 403 : 401,
  );
  expect((await fetch(`${closed.url}/api/agents`)).status).toBe(401);
  expect((await fetch(`${closed.url}/api/agents`, { headers: { authorization: "Bearer x" } })).status).toBe(403);
});
