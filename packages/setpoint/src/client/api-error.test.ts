import { Buffer } from "node:buffer";
import { describe, expect, it } from "vitest";
import { ConfigMap, Namespace } from "../kinds/builtin/v1.js";
import { isTooLargeResourceVersion } from "./api-error.js";
import type { ObservedRequest } from "./client.js";
import {
  answer,
  createObject,
  failing,
  getObject,
  JSON_TYPE,
  object,
  scriptedClient,
  settled,
} from "./testing/scripted-client.js";
import { reply } from "./transport/transport.contract.js";
import type { TransportRequest, TransportResponse } from "./transport/transport.js";
import { transportError } from "./transport/transport-error.js";

describe("answers", () => {
  it.each([
    [400, "BadRequest", "API_BAD_REQUEST"],
    [401, "Unauthorized", "API_UNAUTHORIZED"],
    [403, "Forbidden", "API_FORBIDDEN"],
    [405, "MethodNotAllowed", "API_METHOD_NOT_ALLOWED"],
    [406, "NotAcceptable", "API_UNSUPPORTED_MEDIA_TYPE"],
    [409, "Conflict", "API_CONFLICT"],
    [409, "AlreadyExists", "API_ALREADY_EXISTS"],
    [410, "Expired", "API_EXPIRED"],
    [410, "Gone", "API_EXPIRED"],
    [413, "RequestEntityTooLarge", "API_TOO_LARGE"],
    [415, "UnsupportedMediaType", "API_UNSUPPORTED_MEDIA_TYPE"],
    [422, "Invalid", "API_INVALID"],
    [500, "InternalError", "API_INTERNAL"],
    [500, "ServerTimeout", "API_TIMEOUT"],
    [504, "Timeout", "API_TIMEOUT"],
    [418, "Teapot", "API_FAILED"],
  ])("%i %s become %s, with the server's message", async (code, reason, expected) => {
    const { client } = scriptedClient([failing(code, reason)]);
    await expect(getObject(client)).rejects.toMatchObject({
      code: expected,
      status: code,
      reason,
      message: `GET /api/v1/namespaces/n/configmaps/a: ${code} ${reason}: the message of ${reason}`,
      request: { method: "GET", path: "/api/v1/namespaces/n/configmaps/a" },
    });
  });

  it("name their request without its query, which the error keeps", async () => {
    const { client } = scriptedClient([failing(403, "Forbidden"), reply("<html>"), answer([])]);
    const page = { limit: 500, continue: "token" };
    await expect(client.list(ConfigMap, page)).rejects.toMatchObject({
      message: "GET /api/v1/configmaps: 403 Forbidden: the message of Forbidden",
      request: { method: "GET", path: "/api/v1/configmaps?limit=500&continue=token" },
    });
    await expect(client.list(ConfigMap, page)).rejects.toThrow(/^GET \/api\/v1\/configmaps: the answer .* is not JSON/);
    await expect(client.list(ConfigMap, page)).rejects.toThrow("GET /api/v1/configmaps: expected ConfigMapList");
  });

  it('with "too large resource version" are recognised in all three forms', async () => {
    const shapes = [
      failing(
        504,
        "Timeout",
        {},
        { details: { causes: [{ reason: "ResourceVersionTooLarge", message: "Too large" }] } },
      ),
      failing(504, "Timeout", {}, { message: "Too large resource version: 2000, current: 1000" }),
      failing(500, "InternalError", {}, { details: { causes: [{ reason: "ResourceVersionTooLarge" }] } }),
    ];
    for (const shape of shapes) {
      expect(isTooLargeResourceVersion(await settled(getObject(scriptedClient([shape]).client)))).toBe(true);
    }
    expect(isTooLargeResourceVersion(await settled(getObject(scriptedClient([failing(504, "Timeout")]).client)))).toBe(
      false,
    );
  });

  it("from a proxy are quoted by their first words", async () => {
    const html = `<html><body>\n<h1>502 Bad Gateway</h1>${" padding".repeat(100)}</body></html>`;
    const { client } = scriptedClient([reply(html, { "content-type": "text/html" }, 502)]);
    await expect(createObject(client)).rejects.toMatchObject({
      code: "API_UNAVAILABLE",
      reason: "",
      message: expect.stringMatching(
        /: 502, an answer that is not a Status \(text\/html\): <html><body> <h1>502 Bad Gateway.*…$/,
      ),
    });
  });

  it.each([
    [
      "HTML that calls itself JSON",
      "<html>login</html>",
      JSON_TYPE,
      /content-type application\/json\) is not JSON; it starts with: <html>login/,
    ],
    ["HTML", "<html>login</html>", { "content-type": "text/html" }, /content-type text\/html\) is not JSON/],
    ["protobuf that calls itself JSON", "k8s\u0000\n\u000f\n\u0002v1", JSON_TYPE, /it starts with: k8s\?/],
    [
      "gzip unasked",
      Buffer.from([0x1f, 0x8b, 8, 0, 0xff]),
      { ...JSON_TYPE, "content-encoding": "gzip" },
      /content-encoding gzip/,
    ],
    ["nothing", "", JSON_TYPE, /it is empty/],
    ["half an answer", '{"kind":"ConfigMap","metadata":{"na', JSON_TYPE, /is not JSON; it starts with: \{"kind"/],
    ["a number", "42", JSON_TYPE, /expected an object, the server sent: 42/],
    ["another object", '{"a":1}', JSON_TYPE, /expected ConfigMap, the server sent: \{"a":1\}/],
    ["a character cut in two", Buffer.from('{"metadata":{"name":"\xc3"}}', "latin1"), JSON_TYPE, /is not JSON/],
  ])("that are %s are a clear error", async (_, body, headers, message) => {
    const { client } = scriptedClient([reply(body, headers as Record<string, string>)]);
    const error = (await settled(getObject(client))) as Error;
    expect(error).toMatchObject({ code: "RESPONSE_INVALID", message: expect.stringMatching(message) });
    expect(error.message).toContain("GET /api/v1/namespaces/n/configmaps/a");
  });

  it("are parsed as JSON if only the content type is wrong", async () => {
    const { client } = scriptedClient([reply(JSON.stringify(object), { "content-type": "text/plain" })]);
    expect(await getObject(client)).toEqual(object);
  });

  it("with 250,000 objects are parsed as a list", async () => {
    const items = Array.from({ length: 250_000 }, (_, index) => ({ metadata: { name: `n${index}` } }));
    const { client } = scriptedClient([answer({ metadata: { resourceVersion: "9" }, items })]);
    const list = await client.list(ConfigMap);
    expect(list.items).toHaveLength(250_000);
    expect(list.items[249_999]).toMatchObject({ kind: "ConfigMap", apiVersion: "v1", metadata: { name: "n249999" } });
  });

  it("to a list may have null items", async () => {
    const { client } = scriptedClient([answer({ metadata: { resourceVersion: "9" }, items: null })]);
    expect(await client.list(ConfigMap)).toEqual({ items: [], resourceVersion: "9" });
  });

  it("that take too long are given up, and their connection is closed", async () => {
    const waiting = ({ signal }: TransportRequest): Promise<never> =>
      new Promise((_, reject) => signal!.addEventListener("abort", () => reject(transportError("ABORTED", "aborted"))));
    const { client, clock } = scriptedClient([waiting]);
    const got = settled(createObject(client));
    await clock.advance(89_999);
    await clock.advance(1);
    expect(await got).toMatchObject({
      code: "TRANSPORT_TIMEOUT",
      message: expect.stringContaining("no answer within 90 s"),
    });
  });

  it("whose body stalls are given up, too", async () => {
    const silent = (): TransportResponse => ({
      ...answer(object),
      body: (async function* () {
        yield Buffer.from('{"kind":');
        await new Promise(() => {});
      })(),
    });
    const { client, clock } = scriptedClient([silent]);
    const got = settled(getObject(client));
    await clock.advance(90_000);
    expect(await got).toMatchObject({ code: "TRANSPORT_TIMEOUT" });
  });

  it("that redirect are not followed", async () => {
    const { client, requests } = scriptedClient([reply("", { location: "https://evil.example.com/" }, 302)]);
    await expect(getObject(client)).rejects.toMatchObject({ code: "API_FAILED", status: 302 });
    expect(requests).toHaveLength(1);
  });

  it("with warnings report each text once per kind, with its request", async () => {
    const warnings: string[] = [];
    const headers = { warning: ['299 - "old \\"api\\""', '299 - "first", 299 - "second, with comma"'] };
    const { client } = scriptedClient([() => answer(object, 200, headers)], {
      onWarning: (text, { verb, kind, subresource, object }) =>
        warnings.push(`${verb} ${kind} ${object} ${subresource ?? ""}: ${text}`),
    });
    await client.get(ConfigMap, "a", { namespace: "n" });
    await client.get(ConfigMap, "b", { namespace: "n" });
    expect(warnings).toEqual([
      'get ConfigMap n/a : old "api"',
      "get ConfigMap n/a : first",
      "get ConfigMap n/a : second, with comma",
    ]);
    warnings.length = 0;
    headers.warning = ['299 - "first"'];
    await client.get(Namespace, "n");
    headers.warning = ['299 - "made"'];
    await client.create(ConfigMap, { metadata: { name: "c", namespace: "n" } });
    headers.warning = ['299 - "status"'];
    await client.patch(Namespace, "n", { type: "merge", body: {} }, { subresource: "status" });
    headers.warning = ['299 - "listed"'];
    await client.deleteCollection(ConfigMap, { namespace: "n" });
    headers.warning = ['299 - "raw"'];
    await client.raw({ method: "POST", path: "/version", body: Buffer.from("{") });
    expect(warnings).toEqual([
      "get Namespace n : first",
      "create ConfigMap n/c : made",
      "patch Namespace n status: status",
      "deletecollection ConfigMap undefined : listed",
      "post undefined undefined : raw",
    ]);
  });

  it("are reported to the observer, including failures and retries", async () => {
    const seen: ObservedRequest[] = [];
    const answers = [
      transportError("TRANSPORT_BROKEN", "reset"),
      failing(404, "NotFound", {}, { details: { name: "a" } }),
    ];
    const { client } = scriptedClient(answers, { observer: (request) => seen.push(request) });
    expect(await client.find(ConfigMap, "a", { namespace: "n" })).toBeUndefined();
    expect(seen).toEqual([
      {
        verb: "get",
        kind: "ConfigMap",
        subresource: "",
        method: "GET",
        host: "test",
        status: 0,
        error: "TRANSPORT_BROKEN",
        durationMs: 0,
        attempt: 1,
      },
      {
        verb: "get",
        kind: "ConfigMap",
        subresource: "",
        method: "GET",
        host: "test",
        status: 404,
        durationMs: 0,
        attempt: 2,
      },
    ]);
  });
});
