import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { TestPlane } from "./plane.testing.js";

const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";

describe("the registry", () => {
  let plane: TestPlane;
  beforeEach(async () => {
    plane = await TestPlane.start();
  });
  afterEach(async () => {
    await plane[Symbol.asyncDispose]();
  });

  it("creates, reads, lists, updates and deletes an object", async () => {
    const created = await plane.request("POST", CONFIG_MAPS, { body: { metadata: { name: "a" }, data: { x: "1" } } });
    expect(created.status).toBe(201);
    expect(created.body).toMatchObject({
      kind: "ConfigMap",
      apiVersion: "v1",
      metadata: {
        name: "a",
        namespace: "default",
        creationTimestamp: "2026-01-01T00:00:00Z",
        managedFields: [
          {
            manager: "test",
            operation: "Update",
            apiVersion: "v1",
            fieldsType: "FieldsV1",
            fieldsV1: { "f:data": { ".": {}, "f:x": {} } },
          },
        ],
      },
      data: { x: "1" },
    });
    const read = await plane.request("GET", `${CONFIG_MAPS}/a`);
    expect(read.body).toEqual(created.body);
    const listed = await plane.request("GET", CONFIG_MAPS);
    const { kind: _kind, apiVersion: _apiVersion, ...item } = created.body;
    expect(listed.body).toMatchObject({ kind: "ConfigMapList", apiVersion: "v1", items: [item] });
    expect(listed.body.items[0]).not.toHaveProperty("kind");
    const updated = await plane.request("PUT", `${CONFIG_MAPS}/a`, { body: { ...read.body, data: { x: "2" } } });
    expect(updated.status).toBe(200);
    expect(updated.body.data).toEqual({ x: "2" });
    const stale = await plane.request("PUT", `${CONFIG_MAPS}/a`, { body: { ...read.body, data: { x: "3" } } });
    expect(stale.status).toBe(409);
    const deleted = await plane.request("DELETE", `${CONFIG_MAPS}/a`);
    expect(deleted.body).toEqual({
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Success",
      details: { name: "a", kind: "configmaps", uid: created.body.metadata.uid },
    });
    expect((await plane.request("GET", `${CONFIG_MAPS}/a`)).status).toBe(404);
  });
});
