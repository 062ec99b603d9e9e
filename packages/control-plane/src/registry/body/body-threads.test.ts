import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { TestPlane } from "../plane.testing.js";
import { BodyThreads } from "./body-threads.js";
import { isLargeBody } from "./large-body.js";

const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";
const REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";

let plane: TestPlane;
beforeEach(async () => {
  plane = await TestPlane.start();
});
afterEach(() => plane[Symbol.asyncDispose]());

const post = (target: string, body: string, contentType = "application/yaml") =>
  plane.request("POST", target, { body, contentType });

describe("large YAML", () => {
  it("is parsed by a thread that does not block the event loop", async () => {
    await using thread = new BodyThreads();
    let turns = 0;
    const ticking = setInterval(() => turns++, 1);
    const reading = await thread.read(`data:\n${'  - {a: "b"}\n'.repeat(20_000)}`, "a");
    clearInterval(ticking);
    expect(reading.type).toBe("read");
    expect(turns).toBeGreaterThan(1);
  });

  it("of one flow does not delay that of another, and is parsed in order", async () => {
    await using threads = new BodyThreads();
    const text = `data:\n${'  - {a: "b"}\n'.repeat(5_000)}`;
    const done: string[] = [];
    const read = (flow: string, name: string) => threads.read(text, flow).then(() => void done.push(name));
    const all = [1, 2, 3, 4, 5, 6].map((at) => read("hostile", `hostile ${at}`));
    all.push(read("honest", "honest"));
    await Promise.all(all);
    expect(done.filter((name) => name !== "honest")).toEqual([1, 2, 3, 4, 5, 6].map((at) => `hostile ${at}`));
    expect(done.indexOf("honest")).toBeLessThan(4);
  });

  it.each([
    ["aliases of 15 kB", `x: &a [${"{},".repeat(5_000)}]\ny: [${"*a,".repeat(99)}]\n`, true],
    ["many small parts", `x: [${"{},".repeat(300)}]`, true],
    ["lists in lists without a comma or a line", `${"- ".repeat(200)}a\n`.repeat(21), true],
    ["a manifest", `metadata:\n  name: a\ndata:\n${'  key: "value of some length"\n'.repeat(100)}`, false],
    ["JSON of many parts", `{"x":[${"{},".repeat(5_000)}{}]}`, false],
  ])("is recognised by its parts and its length: %s", (_name, text, expected) => {
    const request = { headers: { "content-type": "application/yaml" }, body: Buffer.from(text) };
    expect(isLargeBody(request as unknown as Parameters<typeof isLargeBody>[0])).toBe(expected);
  });

  it("makes the same object as small YAML does", async () => {
    const data = Array.from({ length: 5_000 }, (_, at) => `  key-${at}: "${at}"`).join("\n");
    const answer = await post(CONFIG_MAPS, `metadata:\n  name: large\ndata:\n${data}\n`);
    expect(answer.status).toBe(201);
    expect(Object.keys(answer.body.data)).toHaveLength(5_000);
    expect(answer.body.data["key-7"]).toBe("7");
  });

  it("is applied, and its duplicates are reported", async () => {
    const lines = `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  name: a\ndata:\n  x: "${"y".repeat(50_000)}"\n`;
    const send = (query: string) =>
      plane.request("PATCH", `${CONFIG_MAPS}/a?fieldManager=m${query}`, {
        body: lines,
        contentType: "application/apply-patch+yaml",
      });
    expect((await send("&fieldValidation=Strict")).body.message).toMatch(/line 5: key "name" already set in map/);
    expect((await send("")).status).toBe(201);
  });

  it("that repeats itself by aliases is refused [R4]", { timeout: 300_000 }, async () => {
    const body = `x: &a [${"{},".repeat(100_000)}{}]\ny: [${"*a,".repeat(98)}*a]\n`;
    for (const target of [CONFIG_MAPS, REVIEWS]) {
      const answer = await post(target, body);
      expect(answer.status).toBe(400);
      expect(answer.body.message).toMatch(/document contains excessive aliasing/);
    }
  });

  it("that is invalid is refused with its line", async () => {
    const answer = await post(CONFIG_MAPS, `${"a: 1\n".repeat(20_000)}b: [1`);
    expect(answer.status).toBe(400);
    expect(answer.body.message).toMatch(/yaml: line 20001: did not find expected ',' or ']'/);
  });

  it("that is JSON needs no thread", async () => {
    const body = JSON.stringify({ metadata: { name: "json" }, data: { x: "y".repeat(100_000) } });
    expect((await post(CONFIG_MAPS, body)).status).toBe(201);
  });

  it("is refused once the server stops", async () => {
    const thread = new BodyThreads();
    await thread[Symbol.asyncDispose]();
    await expect(thread.read("a: 1", "a")).rejects.toThrow(/stopping/);
  });
});
