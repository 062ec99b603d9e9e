import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { TestPlane } from "../registry/plane.testing.js";
import { ERROR_BUDGET } from "./error-budget.js";

const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";
/** The maximum size of an error response: message and causes, each escaped. */
const MOST_BYTES = 16 * ERROR_BUDGET.characters;

let plane: TestPlane;
beforeEach(async () => {
  plane = await TestPlane.start();
});
afterEach(() => plane[Symbol.asyncDispose]());

async function answerTo(method: string, target: string, body: string, contentType = "application/json") {
  const response = await plane.open(method, target, { body, contentType });
  expect(response.body).toBeInstanceOf(Uint8Array);
  const bytes = response.body as Uint8Array;
  expect(bytes.byteLength).toBeLessThan(MOST_BYTES);
  const status = JSON.parse(Buffer.from(bytes).toString());
  expect(status.details?.causes?.length ?? 0).toBeLessThanOrEqual(ERROR_BUDGET.causes);
  return { status: response.status, body: status };
}

const named = (metadata: object): string => JSON.stringify({ metadata: { name: "x", ...metadata } });

describe("the response to a request with many errors is limited", () => {
  it("for a field manager of invalid characters [R3]", async () => {
    const target = `${CONFIG_MAPS}?fieldManager=${"%01".repeat(20_000)}`;
    const { status, body } = await answerTo("POST", target, named({}));
    expect(status).toBe(422);
    expect(body.message).toMatch(
      /^CreateOptions.meta.k8s.io "" is invalid: \[fieldManager: Too long: may not be more than/,
    );
    expect(body.message).toMatch(/invalid character U\+0001 \(at position 0\)/);
    expect(body.details.causes[0]).toMatchObject({ reason: "FieldValueTooLong", field: "fieldManager" });
  });

  it("for half a megabyte of owner references that are all controllers [R6]", async () => {
    const ownerReferences = Array.from({ length: 8_000 }, (_, index) => ({
      apiVersion: "v1",
      kind: "ConfigMap",
      name: `n${index}`,
      uid: `u${index}`,
      controller: true,
    }));
    const sent = named({ ownerReferences });
    expect(sent.length).toBeGreaterThan(590_000);
    const { status, body } = await answerTo("POST", CONFIG_MAPS, sent);
    expect(status).toBe(422);
    expect(body.message).toMatch(/Only one reference can have Controller set to true/);
  });

  it("for labels, annotations and finalizers of invalid characters", async () => {
    const bad = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`%${index}`, ""]));
    const keys = Object.keys(bad);
    const bodies = [{ labels: bad }, { annotations: bad }, { finalizers: keys }];
    for (const metadata of bodies) {
      const { status } = await answerTo("POST", CONFIG_MAPS, named(metadata));
      expect(status).toBe(422);
    }
  });

  it("for thousands of invalid list items", async () => {
    const spec = { containers: Array.from({ length: 3_000 }, () => ({})) };
    const body = JSON.stringify({ metadata: { name: "x" }, spec });
    const answer = await answerTo("POST", "/api/v1/namespaces/default/pods", body);
    expect(answer.status).toBe(422);
    expect(answer.body.details.causes).toHaveLength(ERROR_BUDGET.causes);
    expect(answer.body.message).toMatch(/, and more\]$/);
  });

  it("for unknown fields, in the words of the real server for the first hundred", async () => {
    const unknown = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`x${index}`, 1]));
    const body = JSON.stringify({ metadata: { name: "x" }, ...unknown });
    const answer = await answerTo("POST", `${CONFIG_MAPS}?fieldValidation=Strict`, body);
    expect(answer.status).toBe(400);
    expect(answer.body.message.match(/unknown field/g)).toHaveLength(100);
    const warned = await plane.open("POST", CONFIG_MAPS, { body });
    expect(warned.status).toBe(201);
    expect(String(warned.headers.warning).length).toBeLessThan(3 * ERROR_BUDGET.warningCharacters);
  });

  it("for a name as long as the request", async () => {
    const { status, body } = await answerTo("POST", CONFIG_MAPS, named({ name: "x".repeat(2_900_000) }));
    expect(status).toBe(422);
    expect(body.details.name.length).toBeLessThan(2 * ERROR_BUDGET.valueCharacters);
  });

  it("for a long path that every error repeats", async () => {
    const values = { type: "object", additionalProperties: { type: "array", items: { type: "integer", minimum: 5 } } };
    const schema = { type: "object", properties: { values } };
    const crd = {
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      metadata: { name: "things.example.com" },
      spec: {
        group: "example.com",
        scope: "Namespaced",
        names: { plural: "things", kind: "Thing" },
        versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: schema } }],
      },
    };
    await plane.request("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", { body: crd });
    const things = "/apis/example.com/v1/namespaces/default/things";
    await expect.poll(async () => (await plane.request("GET", things)).status).toBe(200);
    const thing = {
      apiVersion: "example.com/v1",
      kind: "Thing",
      metadata: { name: "t" },
      values: { ["k".repeat(50_000)]: Array.from({ length: 5_000 }, () => 0) },
    };
    const { status } = await answerTo("POST", things, JSON.stringify(thing));
    expect(status).toBe(422);
  });
});

describe("a single error", () => {
  it("is reported in full", async () => {
    const { body } = await answerTo("POST", CONFIG_MAPS, named({ labels: { a: "!" } }));
    expect(body.message).toBe(`ConfigMap "x" is invalid: metadata.labels: ${body.details.causes[0].message}`);
    expect(body.details.causes).toHaveLength(1);
  });
});
