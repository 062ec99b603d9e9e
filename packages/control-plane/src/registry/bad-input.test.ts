import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { TestPlane } from "./plane.testing.js";

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

/** The server still works after the invalid input. */
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

describe("invalid input", () => {
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
    ["an invalid name", '{"metadata":{"name":"../etc"}}', "application/json"],
  ])("%s is refused", async (_what, body, type) => {
    const { status, body: answer } = await post(body, type);
    expect([400, 422]).toContain(status);
    expect(answer.message).not.toBe("");
    await expectAlive();
  });

  it("survives a body of very many keys", async () => {
    const keys = Array.from({ length: 20_000 }, (_, index) => `"${index.toString(36)}":""`).join(",");
    const { status, body } = await post(named(`"data":{${keys}}`));
    expect([status, Object.keys(body.data).length]).toEqual([201, 20_000]);
    await expectAlive();
  });

  it("reports duplicate keys, and treats __proto__ as an ordinary key", async () => {
    const twice = await post(named('"data":{"k":"1","k":"2"}'), "application/json", "?fieldValidation=Strict");
    expect([twice.status, twice.body.message]).toEqual([400, expect.stringContaining('duplicate field "data.k"')]);
    const { status, body } = await post(named('"data":{"__proto__":"x"}'));
    expect([status, Object.hasOwn(body.data, "__proto__")]).toEqual([201, true]);
    expect(({} as { x?: string }).x).toBeUndefined();
  });

  it("evaluates a pattern with catastrophic backtracking in linear time", async () => {
    await defineWidgets({ properties: { t: { type: "string", pattern: "^(a+)+$" } } });
    expect((await postWidget(`{"t":"${"a".repeat(5000)}!"}`)).status).toBe(422);
  });

  it("refuses custom resources that are too large for a real server's storage, also after a patch", async () => {
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

  it("refuses a million items, and nesting of a thousand levels, in the real server's words", async () => {
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

  it.each([
    ["/api/v1//pods", "application/json"],
    ["/api//v1/pods", "application/json"],
    ["/api//v1", "application/json"],
    ["/apis/apps//v1", "application/json"],
    ["/api/v1/namespaces/default//pods", "application/json"],
    ["/api/v1/namespaces/default/pods//x", "application/json"],
    ["/apis//apps/v1/deployments", "text/plain; charset=utf-8"],
    ["/apis//apps", "text/plain; charset=utf-8"],
  ])("the path %s is not found", async (path, type) => {
    const { status, headers } = await plane.request("GET", path);
    expect({ status, type: headers["content-type"] }).toEqual({ status: 404, type });
  });

  it.each(["/api/v1/pods/", "/api/v1/pods//", "/api/v1/namespaces//pods", "/api/"])(
    "the path %s is served",
    async (path) => {
      expect((await plane.request("GET", path)).status).toBe(200);
    },
  );

  it("a name with a percent sign is invalid", async () => {
    for (const method of ["GET", "DELETE"]) {
      const { status, body } = await plane.request(method, `${CONFIG_MAPS}/a%25b`);
      const message = `Name parameter invalid: "a%b": may not contain '%'`;
      expect({ status, message: body.message }).toEqual({ status: 400, message });
    }
  });

  it.each([
    ["limit=99999999999999999999", 'strconv.ParseInt: parsing "99999999999999999999": value out of range'],
    ["limit=", 'strconv.ParseInt: parsing "": invalid syntax'],
    ["watch=1&timeoutSeconds=1e3", 'strconv.ParseInt: parsing "1e3": invalid syntax'],
    [
      "resourceVersion=99999999999999999999",
      'invalid resource version: resourceVersion: Invalid value: "99999999999999999999": strconv.ParseUint: parsing "99999999999999999999": value out of range',
    ],
  ])("the query %s is refused", async (query, message) => {
    const { status, body } = await plane.request("GET", `${CONFIG_MAPS}?${query}`);
    expect({ status, message: body.message }).toEqual({ status: 400, message });
  });

  it.each([
    ['{"dryRun":"All"}', "string into Go struct field DeleteOptions.dryRun of type []string"],
    ['{"dryRun":[1]}', "number into Go struct field DeleteOptions.dryRun of type string"],
    ['{"preconditions":[]}', "array into Go struct field DeleteOptions.preconditions of type v1.Preconditions"],
    ['{"preconditions":{"uid":1}}', "number into Go struct field DeleteOptions.preconditions.uid of type types.UID"],
    ['{"gracePeriodSeconds":1.5}', "number 1.5 into Go struct field DeleteOptions.gracePeriodSeconds of type int64"],
    [
      '{"propagationPolicy":{}}',
      "object into Go struct field DeleteOptions.propagationPolicy of type v1.DeletionPropagation",
    ],
    ['{"orphanDependents":"x"}', "string into Go struct field DeleteOptions.orphanDependents of type bool"],
  ])("delete options such as %s are refused", async (body, why) => {
    const { status, body: answer } = await plane.request("DELETE", `${CONFIG_MAPS}/a`, { body });
    expect({ status, message: answer.message }).toEqual({ status: 400, message: `json: cannot unmarshal ${why}` });
  });

  it("a watch cannot be YAML, and an error no table", async () => {
    const accept = (value: string) => ({ headers: { accept: value } });
    const watch = await plane.request("GET", `${CONFIG_MAPS}?watch=1`, accept("application/yaml, application/json"));
    expect(watch).toMatchObject({ status: 406, headers: { "content-type": "application/yaml" } });
    expect(watch.body).toContain("application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch");
    const table = ";as=Table;g=meta.k8s.io;v=v1";
    for (const type of ["application/yaml", "application/json"]) {
      const { headers, body } = await plane.request("GET", `${CONFIG_MAPS}/a`, accept(`${type}${table}`));
      expect(headers["content-type"]).toBe("application/json");
      expect(body).toMatchObject({ code: 404 });
    }
    const unknown = await plane.request("GET", "/api/v1/nope", accept("application/yaml"));
    expect(unknown.body).toContain("message: the server could not find the requested resource");
  });

  it("namespaced custom resources are created and found only within a namespace", async () => {
    await defineWidgets({});
    for (const [method, path] of [
      ["GET", "/apis/example.com/v1/widgets/a"],
      ["POST", "/apis/example.com/v1/widgets"],
    ] as const) {
      expect(await plane.request(method, path)).toMatchObject({ status: 404, body: "404 page not found\n" });
    }
    expect((await plane.request("GET", "/apis/example.com/v1/widgets")).status).toBe(200);
  });
});
