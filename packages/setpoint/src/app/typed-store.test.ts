import { describe, expect, it } from "vitest";
import { errorAnswer } from "../testing/error-answer.js";
import { TestEnvironment } from "../testing/test-environment.js";
import { Order, Shop } from "./app.testing.js";
import { TypedStore } from "./typed-store.js";

const order = { metadata: { name: "a" }, spec: { item: "tea", count: 1 } };

/** A store in its own process whose writes get so many conflicts. */
async function world(conflicts = 0) {
  const env = await TestEnvironment.create({ kinds: [Order, Shop], loops: [] });
  let left = conflicts;
  env.fault(({ method }) => (method === "PUT" && left-- > 0 ? errorAnswer(409, "Conflict") : undefined));
  const { client } = env.operator;
  return { env, client, store: new TypedStore(client, Order) };
}

describe("TypedStore", () => {
  it("makes three attempts if each gets 409, then rejects [case 41]", async () => {
    const { env, store } = await world(Number.POSITIVE_INFINITY);
    await using _env = env;
    await store.add(order);
    const retries: boolean[] = [];
    const changed = store.modify("a", (read, isRetry) => {
      retries.push(isRetry);
      return read;
    });
    await expect(changed).rejects.toMatchObject({ code: "API_CONFLICT" });
    expect(retries).toEqual([false, true, true]);
  });

  it("tells the modifier that it runs again after a conflict [case 41]", async () => {
    const { env, store } = await world(1);
    await using _env = env;
    await store.add(order);
    const changed = await store.modify("a", (read, isRetry) => ({
      ...read,
      spec: { ...read.spec, count: isRetry ? 3 : 2 },
    }));
    expect(changed.spec.count).toBe(3);
  });

  it("modifies the newest version, or writes nothing", async () => {
    const { env, store } = await world();
    await using _env = env;
    await store.add(order);
    let isFirst = true;
    const changed = await store.modify("a", async (read) => {
      if (isFirst)
        await env.client.patch(
          Order,
          "a",
          { type: "merge", body: { spec: { item: "milk" } } },
          { namespace: "default" },
        );
      isFirst = false;
      return { ...read, spec: { ...read.spec, count: 9 } };
    });
    expect(changed.spec).toEqual({ item: "milk", count: 9 });
    expect(await store.modify("a", () => undefined)).toEqual(changed);
  });

  it("upserts whether the object exists or not", async () => {
    const { env, store } = await world();
    await using _env = env;
    expect((await store.upsert(order)).spec.count).toBe(1);
    expect((await store.upsert({ ...order, spec: { item: "tea", count: 2 } })).spec.count).toBe(2);
    await store.delete("a");
    await store.delete("a");
    const seen = { ...order, metadata: { name: "a", uid: "gone", resourceVersion: "1" } };
    expect((await store.upsert(seen)).metadata.uid).not.toBe("gone");
  });

  it("a write without a resourceVersion overwrites other writers; one with it gets a conflict", async () => {
    const { env, store } = await world(2);
    await using _env = env;
    const added = await store.add(order);
    expect((await store.upsert({ ...order, spec: { item: "tea", count: 2 } })).spec.count).toBe(2);
    await expect(store.update({ ...added, spec: { item: "tea", count: 3 } })).rejects.toMatchObject({
      code: "API_CONFLICT",
    });
  });

  it("upsert overwrites concurrent writes, unless it names a resourceVersion that is outdated", async () => {
    const { env, store } = await world(2);
    await using _env = env;
    const made = await store.add(order);
    expect((await store.upsert({ ...order, spec: { item: "tea", count: 3 } })).spec.count).toBe(3);
    await expect(store.upsert(made)).rejects.toMatchObject({ code: "API_CONFLICT" });
    const { env: busy, store: never } = await world(Number.POSITIVE_INFINITY);
    await using _busy = busy;
    await never.add(order);
    await expect(never.upsert(order)).rejects.toMatchObject({ code: "API_CONFLICT" });
  });

  it("lists all pages, and handles cluster-scoped kinds", async () => {
    const { env, client, store } = await world();
    await using _env = env;
    for (const name of ["a", "b", "c"]) await store.add({ ...order, metadata: { name } });
    expect((await store.list()).map(({ metadata }) => metadata.name)).toEqual(["a", "b", "c"]);
    const shops = new TypedStore(client, Shop);
    await shops.upsert({ metadata: { name: "s" }, spec: { open: true } });
    expect((await shops.get("s")).spec.open).toBe(true);
    expect(await shops.find("t")).toBeUndefined();
  });
});
