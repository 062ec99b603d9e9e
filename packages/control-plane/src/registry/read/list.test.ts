import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { TestPlane } from "../plane.testing.js";

const SECRETS = "/api/v1/namespaces/default/secrets";
const TABLE = { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" };
const METADATA = { accept: "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io" };

let plane: TestPlane;
const versions: string[] = [];
beforeAll(async () => {
  plane = await TestPlane.start();
  for (let index = 0; index < 5; index++) {
    const labels = { n: String(index), odd: String(index % 2) };
    const body = { metadata: { name: `s${index}`, labels }, data: { a: "YQ==" } };
    versions.push((await plane.request("POST", SECRETS, { body })).body.metadata.resourceVersion);
  }
  await plane.request("POST", "/api/v1/namespaces/other/secrets", { body: { metadata: { name: "a" } } });
});
afterAll(() => plane[Symbol.asyncDispose]());

async function names(query: string): Promise<readonly string[]> {
  const { body } = await plane.request("GET", `${SECRETS}${query}`);
  return body.items.map((item: { metadata: { name: string } }) => item.metadata.name);
}

describe("lists", () => {
  it.each([
    ["", ["s0", "s1", "s2", "s3", "s4"]],
    ["?labelSelector=odd%3D1", ["s1", "s3"]],
    ["?labelSelector=n%20notin%20(1,2),odd", ["s0", "s3", "s4"]],
    ["?fieldSelector=metadata.name%3Ds1", ["s1"]],
    ["?fieldSelector=metadata.name!%3Ds1", ["s0", "s2", "s3", "s4"]],
    ["?fieldSelector=type%3DOpaque,metadata.name%3Ds2", ["s2"]],
    ["?fieldSelector=metadata.namespace%3Dother", []],
    ["?limit=2&resourceVersion=0", ["s0", "s1", "s2", "s3", "s4"]],
  ])("%s", async (query, expected) => {
    expect(await names(query)).toEqual(expected);
  });

  it("leave kind and apiVersion out of the items of built-in kinds", async () => {
    const { body } = await plane.request("GET", SECRETS);
    expect(body).toMatchObject({ kind: "SecretList", apiVersion: "v1" });
    expect(Object.keys(body.items[0])).toEqual(["metadata", "data", "type"]);
  });

  it("return pages of one state", async () => {
    const first = (await plane.request("GET", `${SECRETS}?limit=2`)).body;
    expect(first.metadata.remainingItemCount).toBe(3);
    await plane.request("POST", SECRETS, { body: { metadata: { name: "s2b" } } });
    const token = encodeURIComponent(first.metadata.continue);
    const second = (await plane.request("GET", `${SECRETS}?limit=2&continue=${token}`)).body;
    expect(second.items.map((item: { metadata: { name: string } }) => item.metadata.name)).toEqual(["s2", "s3"]);
    expect(second.metadata.resourceVersion).toBe(first.metadata.resourceVersion);
    await plane.request("DELETE", `${SECRETS}/s2b`);
  });

  it("do not count remaining items if a selector is given", async () => {
    const { body } = await plane.request("GET", `${SECRETS}?limit=1&labelSelector=odd%3D1`);
    expect(body.metadata.continue).toBeDefined();
    expect(body.metadata).not.toHaveProperty("remainingItemCount");
  });

  it("show an earlier state if it is requested exactly", async () => {
    expect(await names(`?resourceVersionMatch=Exact&resourceVersion=${versions[2]}`)).toEqual(["s0", "s1", "s2"]);
    expect(await names(`?limit=9&resourceVersion=${versions[2]}`)).toEqual(["s0", "s1", "s2"]);
    expect(await names(`?resourceVersion=${versions[2]}`)).toHaveLength(5);
  });

  it("wait three seconds for a future version, then answer 504", async () => {
    const pending = plane.request("GET", `${SECRETS}?resourceVersion=999999`);
    await plane.clock.advance(3000);
    const { status, body, headers } = await pending;
    expect(status).toBe(504);
    expect(headers["retry-after"]).toBe("1");
    expect(body).toMatchObject({
      message: `Timeout: Too large resource version: 999999, current: ${plane.storage.revision}`,
      reason: "Timeout",
      details: {
        causes: [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }],
        retryAfterSeconds: 1,
      },
    });
  });

  it.each([
    [
      "resourceVersion=abc",
      400,
      'invalid resource version: resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": invalid syntax',
    ],
    [
      "resourceVersionMatch=Exact",
      422,
      'ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided',
    ],
    [
      "resourceVersion=0&resourceVersionMatch=Exact",
      422,
      'ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: resourceVersionMatch "exact" is forbidden for resourceVersion "0"',
    ],
    [
      "sendInitialEvents=true",
      422,
      'ListOptions.meta.k8s.io "" is invalid: sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list',
    ],
    ["limit=abc", 400, 'strconv.ParseInt: parsing "abc": invalid syntax'],
    ["fieldSelector=foo%3Dbar", 400, "field label not supported: foo"],
    [
      "continue=e30&resourceVersion=5",
      400,
      "invalid continue token: continue key is not valid: server does not recognize this encoded version ",
    ],
  ])("refuse %s", async (query, status, message) => {
    const answer = await plane.request("GET", `${SECRETS}?${query}`);
    expect(answer.status).toBe(status);
    expect(answer.body.message).toBe(message);
  });

  it("answer 410 with a token for the rest if the state is compacted", async () => {
    const { body: page } = await plane.request("GET", `${SECRETS}?limit=2`);
    await plane.request("POST", SECRETS, { body: { metadata: { name: "z" } } });
    plane.storage.compact(plane.storage.revision);
    const { status, body } = await plane.request("GET", `${SECRETS}?limit=2&continue=${page.metadata.continue}`);
    expect(status).toBe(410);
    expect(body.reason).toBe("Expired");
    expect(await names(`?continue=${body.metadata.continue}`)).toEqual(["s2", "s3", "s4", "z"]);
    await plane.request("DELETE", `${SECRETS}/z`);
  });

  it("are tables on request", async () => {
    const { body } = await plane.request("GET", `${SECRETS}?limit=1`, { headers: TABLE });
    expect(body.kind).toBe("Table");
    expect(body.columnDefinitions.map((column: { name: string }) => column.name)).toEqual([
      "Name",
      "Type",
      "Data",
      "Age",
    ]);
    expect(body.rows[0].cells.slice(0, 3)).toEqual(["s0", "Opaque", 1]);
    expect(body.rows[0].object.kind).toBe("PartialObjectMetadata");
  });

  it("are metadata only on request", async () => {
    const { body } = await plane.request("GET", `${SECRETS}?limit=1`, { headers: METADATA });
    expect(body).toMatchObject({ kind: "PartialObjectMetadataList", items: [{ kind: "PartialObjectMetadata" }] });
    expect(body.items[0]).not.toHaveProperty("data");
  });

  it("are sent in chunks if they are long", async () => {
    const path = "/api/v1/namespaces/long/configmaps";
    const creates = Array.from({ length: 700 }, (_, index) =>
      plane.request("POST", path, { body: { metadata: { name: `c${index}` }, data: { text: "x".repeat(1000) } } }),
    );
    await Promise.all(creates);
    const response = await plane.open("GET", path);
    expect(response.body).not.toBeInstanceOf(Uint8Array);
    const { body } = await plane.request("GET", path);
    expect(body.items).toHaveLength(700);
    const byName = body.items.map((item: { metadata: { name: string } }) => item.metadata.name);
    expect(byName).toEqual([...byName].sort());
  });
});
