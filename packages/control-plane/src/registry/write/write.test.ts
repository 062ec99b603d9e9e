import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { TestPlane } from "../plane.testing.js";

const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";
const MERGE = "application/merge-patch+json";
const STRATEGIC = "application/strategic-merge-patch+json";
const APPLY = "application/apply-patch+yaml";

let plane: TestPlane;
beforeEach(async () => {
  plane = await TestPlane.start();
});
afterEach(() => plane[Symbol.asyncDispose]());

const post = (body: unknown, query = "") => plane.request("POST", CONFIG_MAPS + query, { body });

describe("creates", () => {
  it.each([
    [
      "",
      400,
      "the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; json parse error: unexpected end of JSON input (<empty>)",
    ],
    [
      '{"metadata":{"name":"x"},}',
      400,
      'the object provided is unrecognized (must be of type ConfigMap): couldn\'t get version/kind; json parse error: invalid character \'}\' looking for beginning of object key string ({"metadata":{"name":"x"},})',
    ],
    [
      '{"kind":"Foo","apiVersion":"v1"}',
      400,
      'Foo in version "v1" cannot be handled as a ConfigMap: no kind "Foo" is registered for version "v1" in scheme "pkg/runtime/scheme.go:111"',
    ],
    ["{}", 422, 'ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required'],
    [
      '{"metadata":{"name":"x","namespace":"other"}}',
      400,
      "the namespace of the provided object does not match the namespace sent on the request",
    ],
    [
      '{"metadata":{"name":"x"},"data":{"a":1}}',
      400,
      'ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal number into Go struct field ConfigMap.data of type string',
    ],
    [
      '{"metadata":{"name":"x","resourceVersion":"1"}}',
      500,
      "resourceVersion should not be set on objects to be created",
    ],
  ])("refuse %s", async (body, status, message) => {
    const answer = await plane.request("POST", CONFIG_MAPS, { body, headers: { "content-type": "application/json" } });
    expect(answer.status).toBe(status);
    expect(answer.body.message).toBe(message);
  });

  it("warn of unknown and duplicate fields, refuse them strictly, or ignore them", async () => {
    const body = '{"metadata":{"name":"x","zz":1},"data":{"a":"1","a":"2"},"zzz":1}';
    const warned = await post(body, "?dryRun=All");
    expect(warned.headers.warning).toEqual([
      '299 - "unknown field \\"metadata.zz\\""',
      '299 - "duplicate field \\"data.a\\""',
      '299 - "unknown field \\"zzz\\""',
    ]);
    const strict = await post(body, "?dryRun=All&fieldValidation=Strict");
    expect(strict.body.message).toBe(
      'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: unknown field "metadata.zz", duplicate field "data.a", unknown field "zzz"',
    );
    const ignored = await post(body, "?dryRun=All&fieldValidation=Ignore");
    expect(ignored.headers).not.toHaveProperty("warning");
    expect(ignored.body.data).toEqual({ a: "2" });
  });

  it("accept YAML, refuse CBOR and unknown media types", async () => {
    const yaml = await plane.request("POST", CONFIG_MAPS, {
      contentType: "application/yaml",
      body: "metadata: {name: yaml}\ndata:\n  a: '1'\n",
    });
    expect(yaml.status).toBe(201);
    const cbor = await plane.request("POST", CONFIG_MAPS, { contentType: "application/cbor", body: "x" });
    expect(cbor.status).toBe(415);
    expect(cbor.body.message).toBe(
      "the body of the request was in an unknown format - accepted media types include: application/json, application/yaml, application/vnd.kubernetes.protobuf",
    );
  });

  it("store nothing in a dry run", async () => {
    expect((await post({ metadata: { name: "a" } }, "?dryRun=All")).status).toBe(201);
    expect((await plane.request("GET", `${CONFIG_MAPS}/a`)).status).toBe(404);
  });

  it("generate names, and retry when one is taken", async () => {
    const { body } = await post({ metadata: { generateName: "prefix-" } });
    expect(body.metadata.name).toMatch(/^prefix-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
    expect(body.metadata.generateName).toBe("prefix-");
  });

  it("report that a name is taken", async () => {
    await post({ metadata: { name: "a" } });
    const { status, body } = await post({ metadata: { name: "a" } });
    expect(status).toBe(409);
    expect(body).toMatchObject({ reason: "AlreadyExists", message: 'configmaps "a" already exists' });
  });

  it("survive hostile input", async () => {
    const deep = `${'{"a":'.repeat(5000)}1${"}".repeat(5000)}`;
    expect((await post(deep)).status).toBe(400);
    const proto = await post('{"metadata":{"name":"p"},"data":{"__proto__":"a","constructor":"b"}}');
    expect(Object.entries(proto.body.data)).toEqual([
      ["__proto__", "a"],
      ["constructor", "b"],
    ]);
    expect(({} as Record<string, unknown>).a).toBeUndefined();
    const many = JSON.stringify({
      metadata: { name: "m" },
      data: Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`k${index}`, ""])),
    });
    expect((await post(many, "?dryRun=All")).status).toBe(201);
  });
});

describe("updates", () => {
  beforeEach(() => post({ metadata: { name: "a" }, data: { x: "1" } }));
  const put = (body: unknown, query = "") => plane.request("PUT", `${CONFIG_MAPS}/a${query}`, { body });

  it("conflict with a stale resourceVersion", async () => {
    const { status, body } = await put({ metadata: { name: "a", resourceVersion: "1" } });
    expect(status).toBe(409);
    expect(body).toMatchObject({
      message:
        'Operation cannot be fulfilled on configmaps "a": the object has been modified; please apply your changes to the latest version and try again',
      reason: "Conflict",
      details: { name: "a", kind: "configmaps" },
    });
  });

  it("that change nothing keep the resourceVersion", async () => {
    const before = (await plane.request("GET", `${CONFIG_MAPS}/a`)).body;
    await plane.clock.advance(60_000);
    expect((await put(before)).body).toEqual(before);
    expect((await put({ metadata: { name: "a" }, data: { x: "1" } })).body.metadata.resourceVersion).toBe(
      before.metadata.resourceVersion,
    );
  });

  it("need a resourceVersion if the kind requires it", async () => {
    const leases = "/apis/coordination.k8s.io/v1/namespaces/default/leases";
    await plane.request("POST", leases, { body: { metadata: { name: "l" } } });
    const { status, body } = await plane.request("PUT", `${leases}/l`, { body: { metadata: { name: "l" } } });
    expect(status).toBe(422);
    expect(body.message).toBe(
      'leases.coordination.k8s.io "l" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update',
    );
    expect((await plane.request("PUT", `${leases}/new`, { body: { metadata: { name: "new" } } })).status).toBe(201);
  });

  it("refuse another name, another uid and no name", async () => {
    expect((await put({ metadata: { name: "b" } })).body.message).toBe(
      "the name of the object (b) does not match the name on the URL (a)",
    );
    expect((await put({ metadata: {} })).body.message).toBe(
      "the name of the object (a based on URL) was undeterminable: name must be provided",
    );
    expect((await put({ metadata: { name: "a", uid: "x" } })).status).toBe(409);
  });

  it("of the status leave the rest alone, and vice versa", async () => {
    const pods = "/api/v1/namespaces/default/pods";
    const spec = { containers: [{ name: "c", image: "i" }] };
    const created = await plane.request("POST", pods, {
      body: { metadata: { name: "p" }, spec, status: { phase: "Running" } },
    });
    expect(created.body.status.phase).toBe("Pending");
    const patch = (path: string, body: unknown) => plane.request("PATCH", pods + path, { contentType: MERGE, body });
    const { body } = await patch("/p/status", { spec: { nodeName: "x" }, status: { phase: "Running" } });
    expect(body.status.phase).toBe("Running");
    expect(body.spec).not.toHaveProperty("nodeName");
    expect((await patch("/p", { status: { phase: "Failed" } })).body.status.phase).toBe("Running");
  });

  it("increase the generation when the desired state changes", async () => {
    const deployments = "/apis/apps/v1/namespaces/default/deployments";
    const template = { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "c", image: "i" }] } };
    const body = { metadata: { name: "d" }, spec: { selector: { matchLabels: { a: "b" } }, template } };
    expect((await plane.request("POST", deployments, { body })).body.metadata.generation).toBe(1);
    const patch = async (path: string, change: unknown) =>
      (await plane.request("PATCH", `${deployments}/d${path}`, { contentType: MERGE, body: change })).body.metadata
        .generation;
    expect(await patch("", { metadata: { labels: { x: "y" } } })).toBe(1);
    expect(await patch("", { spec: { replicas: 3 } })).toBe(2);
    expect(await patch("/status", { status: { replicas: 3 } })).toBe(2);
    expect(await patch("", { metadata: { annotations: { x: "y" } } })).toBe(3);
  });
});

describe("patches", () => {
  beforeEach(() => post({ metadata: { name: "a" }, data: { x: "1" } }));
  const patch = (contentType: string, body: unknown, query = "") =>
    plane.request("PATCH", `${CONFIG_MAPS}/a${query}`, { contentType, body });

  it("merge, replace and apply", async () => {
    expect((await patch(MERGE, { data: { y: "2" } })).body.data).toEqual({ x: "1", y: "2" });
    const json = await patch("application/json-patch+json", [{ op: "remove", path: "/data/x" }]);
    expect(json.body.data).toEqual({ y: "2" });
    const config = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" }, data: { z: "3" } };
    const applied = await patch(APPLY, config, "?fieldManager=m");
    expect(applied.body.data).toEqual({ y: "2", z: "3" });
    expect((await patch(APPLY, { ...config, data: {} }, "?fieldManager=m")).body.data).toEqual({ y: "2" });
  });

  it("create missing objects only when they apply", async () => {
    const config = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "new" } };
    const path = `${CONFIG_MAPS}/new`;
    expect((await plane.request("PATCH", path, { contentType: MERGE, body: {} })).status).toBe(404);
    expect((await plane.request("PATCH", `${path}?fieldManager=m`, { contentType: APPLY, body: config })).status).toBe(
      201,
    );
    expect((await plane.request("PATCH", `${path}?fieldManager=m`, { contentType: APPLY, body: config })).status).toBe(
      200,
    );
  });

  it.each([
    [MERGE, "{", "", 400, "error decoding patch: unexpected end of JSON input"],
    [STRATEGIC, "{", "", 400, "unexpected end of JSON input"],
    [
      STRATEGIC,
      '{"data":"text"}',
      "",
      422,
      ' "" is invalid: patch: Invalid value: "map[data:text]": cannot restore map from string',
    ],
    [
      "application/json-patch+json",
      '[{"op":"replace","path":"","value":{}}]',
      "",
      400,
      "the name of the object (a based on URL) was undeterminable: name must be provided",
    ],
    [
      APPLY,
      "{",
      "?fieldManager=m",
      400,
      "error decoding YAML: error converting YAML to JSON: yaml: line 1: did not find expected node content",
    ],
    [
      APPLY,
      "{a: 1, a: 2}",
      "?fieldManager=m&fieldValidation=Strict",
      400,
      'error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:\n  line 1: key "a" already set in map',
    ],
    [MERGE, '{"metadata":{"name":"b"}}', "", 400, "the name of the object (b) does not match the name on the URL (a)"],
    ["application/json", "{}", "", 415, "415: Unsupported Media Type"],
    [
      MERGE,
      "{}",
      "?force=true",
      422,
      'PatchOptions.meta.k8s.io "" is invalid: force: Forbidden: may not be specified for non-apply patch',
    ],
    [
      APPLY,
      "{}",
      "",
      422,
      'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch',
    ],
    [
      APPLY,
      "[]",
      "?fieldManager=m",
      400,
      "error decoding YAML: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal array into Go value of type map[string]interface {}",
    ],
  ])("%s %s%s is refused", async (type, body, query, status, message) => {
    const answer = await patch(type, body, query);
    expect(answer.status).toBe(status);
    expect(answer.body.message).toBe(message);
  });

  it("that make an object malformed quote it in wire order, and sorted where the patch changed it", async () => {
    const untouched = await patch(MERGE, { data: { y: 7 } });
    expect(untouched.body.message).toMatch(
      /\{\\"apiVersion\\":.*\\"metadata\\":\{\\"name\\".*\\"uid\\":[^,]*,\\"resourceVersion\\":[^,]*,\\"creationTimestamp\\"/,
    );
    const touched = await patch(MERGE, { metadata: { labels: { a: 7 } } });
    const otherKind = await patch(MERGE, { kind: "Secret", data: null });
    expect(otherKind.body.message).toContain("converting (v1.Secret) to (core.ConfigMap): unknown conversion");
    expect(touched.body.message).toMatch(/\\"metadata\\":\{\\"creationTimestamp\\"/);
  });

  it("of many concurrent writers all succeed", async () => {
    const writers = Array.from({ length: 20 }, (_, index) => patch(MERGE, { data: { [`k${index}`]: "v" } }));
    for (const { status } of await Promise.all(writers)) expect(status).toBe(200);
    expect(Object.keys((await plane.request("GET", `${CONFIG_MAPS}/a`)).body.data)).toHaveLength(21);
  });
});

describe("deletes", () => {
  beforeEach(() => post({ metadata: { name: "a" } }));

  it("check their preconditions", async () => {
    const { status, body } = await plane.request("DELETE", `${CONFIG_MAPS}/a`, {
      body: { preconditions: { uid: "x" } },
    });
    expect(status).toBe(409);
    expect(body.message).toMatch(
      /^Operation cannot be fulfilled on ConfigMap "a": the UID in the precondition \(x\) does not match the UID in record/,
    );
  });

  it("wait for finalizers, and complete with the last one", async () => {
    await post({ metadata: { name: "f", finalizers: ["a.b/c"] } });
    const first = (await plane.request("DELETE", `${CONFIG_MAPS}/f`)).body;
    expect(first.metadata).toMatchObject({ deletionTimestamp: "2026-01-01T00:00:00Z", deletionGracePeriodSeconds: 0 });
    expect((await plane.request("DELETE", `${CONFIG_MAPS}/f`)).body.metadata.resourceVersion).toBe(
      first.metadata.resourceVersion,
    );
    const freed = await plane.request("PATCH", `${CONFIG_MAPS}/f`, {
      contentType: MERGE,
      body: { metadata: { finalizers: null } },
    });
    expect(freed.status).toBe(200);
    expect((await plane.request("GET", `${CONFIG_MAPS}/f`)).status).toBe(404);
  });

  it("delete what a selector selects", async () => {
    await post({ metadata: { name: "b", labels: { x: "y" } } });
    const { body } = await plane.request("DELETE", `${CONFIG_MAPS}?labelSelector=x%3Dy`);
    expect(body).toMatchObject({ kind: "ConfigMapList", items: [{ metadata: { name: "b" } }] });
    expect((await plane.request("GET", CONFIG_MAPS)).body.items).toHaveLength(1);
  });

  it("give a running pod its grace period, which can only be shortened", async () => {
    const pods = "/api/v1/namespaces/default/pods";
    const spec = { nodeName: "n", containers: [{ name: "c", image: "i" }] };
    await plane.request("POST", pods, { body: { metadata: { name: "p" }, spec } });
    const remove = async (query: string) =>
      (await plane.request("DELETE", `${pods}/p${query}`)).body.metadata.deletionGracePeriodSeconds;
    expect(await remove("?gracePeriodSeconds=20")).toBe(20);
    expect(await remove("?gracePeriodSeconds=30")).toBe(20);
    expect(await remove("")).toBe(20);
    expect(await remove("?gracePeriodSeconds=5")).toBe(5);
    expect(await remove("?gracePeriodSeconds=0")).toBe(0);
    expect((await plane.request("GET", `${pods}/p`)).status).toBe(404);
  });
});
