import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { TestPlane } from "./test-plane.js";

const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";
const PROTOBUF = "application/vnd.kubernetes.protobuf";
const named = (rest: string): string => `{"metadata":{"name":"a"},${rest}}`;

let plane: TestPlane;
beforeEach(async () => {
  plane = await TestPlane.start();
});
afterEach(() => plane[Symbol.asyncDispose]());

const post = (body: string, contentType = "application/json", query = "") =>
  plane.request("POST", `${CONFIG_MAPS}${query}`, { body, contentType });

/** The server is none the worse for what it was sent. */
async function expectAlive(): Promise<void> {
  expect((await post('{"metadata":{"name":"alive"}}')).status).toBe(201);
}

const WIDGETS = "/apis/example.com/v1/namespaces/default/widgets";

const postWidget = (spec: string) =>
  plane.request("POST", WIDGETS, {
    body: `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a"},"spec":${spec}}`,
  });

async function defineWidgets(spec: object): Promise<void> {
  const openAPIV3Schema = { type: "object", properties: { spec: { type: "object", ...spec } } };
  const crd = {
    metadata: { name: "widgets.example.com" },
    spec: {
      group: "example.com",
      scope: "Namespaced",
      names: { plural: "widgets", kind: "Widget" },
      versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema } }],
    },
  };
  await plane.request("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", { body: crd });
}

describe("input that is wrong", () => {
  it.each([
    ["JSON that breaks off", '{"metadata":{"name":"a"', "application/json"],
    ["JSON of another kind of value", "[]", "application/json"],
    ["YAML that breaks off", "metadata: [", "application/yaml"],
    ["protobuf without its magic", "abcd", PROTOBUF],
    ["protobuf that breaks off", "k8s\0\n\x10", PROTOBUF],
    ["lists as deep as the stack", named(`"data":${"[".repeat(100_000)}${"]".repeat(100_000)}`), "application/json"],
    ["objects as deep as the stack", `${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`, "application/json"],
    ["YAML as deep as the stack", `metadata: ${"[".repeat(20_000)}${"]".repeat(20_000)}`, "application/yaml"],
    ["a label value with a colon", '{"metadata":{"name":"a","labels":{"x":"a:b"}}}', "application/json"],
    ["a name that is none", '{"metadata":{"name":"../etc"}}', "application/json"],
  ])("%s is refused", async (_what, body, type) => {
    const { status, body: answer } = await post(body, type);
    expect([400, 422]).toContain(status);
    expect(answer.message).not.toBe("");
    await expectAlive();
  });

  it("goes on after a body of very many keys", async () => {
    const keys = Array.from({ length: 20_000 }, (_, index) => `"${index.toString(36)}":""`).join(",");
    const { status, body } = await post(named(`"data":{${keys}}`));
    expect([status, Object.keys(body.data).length]).toEqual([201, 20_000]);
    await expectAlive();
  });

  it("names duplicate keys, and takes __proto__ for a key like any other", async () => {
    const twice = await post(named('"data":{"k":"1","k":"2"}'), "application/json", "?fieldValidation=Strict");
    expect([twice.status, twice.body.message]).toEqual([400, expect.stringContaining('duplicate field "data.k"')]);
    const { status, body } = await post(named('"data":{"__proto__":"x"}'));
    expect([status, Object.hasOwn(body.data, "__proto__")]).toEqual([201, true]);
    expect(({} as { x?: string }).x).toBeUndefined();
  });

  it("matches a pattern that explodes elsewhere", async () => {
    await defineWidgets({ properties: { t: { type: "string", pattern: "^(a+)+$" } } });
    expect((await postWidget(`{"t":"${"a".repeat(5000)}!"}`)).status).toBe(422);
  });

  it("refuses custom resources that are too large for a real server's storage, also where patches made them so", async () => {
    await defineWidgets({ "x-kubernetes-preserve-unknown-fields": true });
    const text = "x".repeat(1_400_000);
    expect((await postWidget(`{"t":"${text}"}`)).status).toBe(201);
    const merge = "application/merge-patch+json";
    const grown = await plane.request("PATCH", `${WIDGETS}/a`, { contentType: merge, body: { spec: { more: text } } });
    expect([grown.status, grown.body.message, grown.body.reason]).toEqual([
      500,
      "etcdserver: request is too large",
      undefined,
    ]);
    const { body } = await plane.request("GET", `${WIDGETS}/a`);
    expect(Object.keys(body.spec)).toEqual(["t"]);
    await expectAlive();
  });

  it("refuses a million items, and one value within another a thousand times, in the real server's words", async () => {
    await defineWidgets({ "x-kubernetes-preserve-unknown-fields": true });
    expect((await postWidget(`{"t":[${"1,".repeat(1_000_000)}1]}`)).status).toBe(500);
    const deep = await postWidget(`${'{"a":'.repeat(20_000)}[]${"}".repeat(20_000)}`);
    expect([deep.status, deep.body.message]).toEqual([
      400,
      expect.stringMatching(
        /^the object provided is unrecognized \(must be of type Widget\): couldn't get version\/kind; json parse error: invalid character '\{' exceeded max depth \(/,
      ),
    ]);
  });
});
