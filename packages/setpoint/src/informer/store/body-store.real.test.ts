import { Buffer } from "node:buffer";
import { type ChildProcess, spawn } from "node:child_process";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { freePort } from "../../../../../tools/ports/free-port.mjs";
import { systemClock } from "../../clock/system-clock.js";
import { MemcachedBodies } from "../external/memcached-bodies.js";
import { RedisBodies } from "../external/redis-bodies.js";
import type { BodyStore } from "./body-store.js";

const stores = [
  {
    name: "Redis",
    command: (port: number) => ["redis-server", "--port", String(port), "--save", "", "--bind", "127.0.0.1"],
    open: (port: number, writer: string) => new RedisBodies({ port, prefix: "test", writer, claim: "1m" }),
  },
  {
    name: "Memcached",
    command: (port: number) => ["memcached", "-p", String(port), "-U", "0", "-l", "127.0.0.1", "-u", "nobody"],
    open: (port: number, writer: string) => new MemcachedBodies({ port, prefix: "test", writer, claim: "1m" }),
  },
];

describe.each(stores)("bodies in a real $name", ({ command, open }) => {
  let port = 0;
  let server: ChildProcess | undefined;
  let bodies: BodyStore;

  const launch = async (): Promise<void> => {
    const [program, ...args] = command(port);
    server = spawn(program!, args, { stdio: "ignore" });
    const failed = new Promise<never>((_, reject) => server!.once("error", reject));
    const answers = async (): Promise<void> => {
      for (let tries = 0; ; tries++) {
        try {
          await bodies.get("none");
          return;
        } catch (error) {
          if (tries > 100) throw error;
          await systemClock.sleep(50);
        }
      }
    };
    await Promise.race([answers(), failed]);
  };

  const halt = async (): Promise<void> => {
    const ended = new Promise((resolve) => server!.once("exit", resolve));
    server!.kill("SIGKILL");
    await ended;
  };

  const body = (text: string): Buffer => Buffer.from(text);

  beforeAll(async () => {
    port = await freePort();
    bodies = open(port, "first");
    await launch();
  });

  afterAll(async () => {
    await bodies[Symbol.asyncDispose]();
    await halt();
  });

  it("stores, replaces and deletes bodies, whatever bytes and however many", async () => {
    expect(await bodies.get("a/b")).toBeUndefined();
    const bytes = Buffer.from(Array.from({ length: 70_000 }, (_, at) => at % 256));
    expect(await bodies.put("a/b", { resourceVersion: "9", body: bytes })).toBe(true);
    expect(await bodies.get("a/b")).toEqual({ resourceVersion: "9", body: bytes });
    expect(await bodies.put("a/b", { resourceVersion: "10", body: body("é\r\n\n") })).toBe(true);
    expect(await bodies.get("a/b")).toEqual({ resourceVersion: "10", body: body("é\r\n\n") });
    await bodies.delete("a/b");
    await bodies.delete("a/b");
    expect(await bodies.get("a/b")).toBeUndefined();
  });

  it("refuses an older resourceVersion", async () => {
    await bodies.put("v", { resourceVersion: "100", body: body("new") });
    expect(await bodies.put("v", { resourceVersion: "99", body: body("old") })).toBe(false);
    expect((await bodies.get("v"))?.body.toString()).toBe("new");
  });

  it("accepts keys of any length, many at once", async () => {
    const keys = Array.from({ length: 50 }, (_, at) => `namespace/${"n".repeat(240)}-${at}`);
    await Promise.all(keys.map((key, at) => bodies.put(key, { resourceVersion: "1", body: body(String(at)) })));
    const read = await Promise.all(keys.map((key) => bodies.get(key)));
    expect(read.map((stored) => stored?.body.toString())).toEqual(keys.map((_, at) => String(at)));
  });

  it("has one writer per prefix until it leaves", async () => {
    const second = open(port, "second");
    const stored = { resourceVersion: "1", body: body("x") };
    await expect(second.put("w", stored)).rejects.toMatchObject({ code: "BODY_STORE_TAKEN" });
    await expect(second.delete("v")).rejects.toMatchObject({ code: "BODY_STORE_TAKEN" });
    await bodies[Symbol.asyncDispose]();
    expect(await second.put("w", stored)).toBe(true);
    await second[Symbol.asyncDispose]();
    bodies = open(port, "first");
    expect((await bodies.get("w"))?.body.toString()).toBe("x");
  });

  it("fails while the server is down, and goes on when it is back, empty", async () => {
    await bodies.put("gone", { resourceVersion: "1", body: body("x") });
    await halt();
    await expect(bodies.put("gone", { resourceVersion: "2", body: body("y") })).rejects.toMatchObject({
      code: "BODY_STORE_FAILED",
    });
    await launch();
    expect(await bodies.get("gone")).toBeUndefined();
    expect(await bodies.put("gone", { resourceVersion: "1", body: body("z") })).toBe(true);
  });
});
