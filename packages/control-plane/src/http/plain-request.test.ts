import { describe, expect, it } from "vitest";
import { PlainRequests } from "./plain-request.js";

const parse = (text: string) => new PlainRequests().parse(Buffer.from(text, "latin1"));

describe("PlainRequests", () => {
  it("reads method, target, headers and body, and returns where the next request starts", () => {
    const first = "POST /a?b=c HTTP/1.1\r\nHost: x\r\nContent-Length: 5 \r\nX-A:  one\r\nx-a: two\r\n\r\nhello";
    const request = parse(`${first}GET / HTTP/1.1\r\n`)!;
    expect([request.method, request.target, Buffer.from(request.body).toString()]).toEqual(["POST", "/a?b=c", "hello"]);
    expect({ ...request.headers }).toEqual({ host: "x", "content-length": "5", "x-a": "one, two" });
    expect(request.byteLength).toBe(first.length);
  });

  it("keeps repeated impersonation headers apart", () => {
    const request = parse("GET / HTTP/1.1\r\nhost: x\r\nimpersonate-group: a\r\nimpersonate-group: b\r\n\r\n");
    expect(request?.headers["impersonate-group"]).toEqual(["a", "b"]);
  });

  it("reads a request after one with the same headers, and after one with others", () => {
    const requests = new PlainRequests();
    const read = (text: string) => {
      const { headers, body, target } = requests.parse(Buffer.from(text, "latin1"))!;
      return [target, headers["x-a"], Buffer.from(body).toString()];
    };
    const post = (target: string, header: string, body: string) =>
      `POST ${target} HTTP/1.1\r\nhost: x\r\nx-a: ${header}\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
    expect(read(post("/1", "a", "one"))).toEqual(["/1", "a", "one"]);
    expect(read(post("/2", "a", "two"))).toEqual(["/2", "a", "two"]);
    expect(read(post("/3", "b", "three"))).toEqual(["/3", "b", "three"]);
    expect(requests.parse(Buffer.from("GET / HTTP/1.1\r\nno header\r\n\r\n"))).toBeUndefined();
    expect(read(post("/4", "b", "three"))).toEqual(["/4", "b", "three"]);
  });

  it.each([
    ["a part of a head", "GET / HTTP/1.1\r\nhost: x\r\n"],
    ["a part of a body", "POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\n\r\nhell"],
    ["another version", "GET / HTTP/1.0\r\nhost: x\r\n\r\n"],
    ["another method", "HEAD / HTTP/1.1\r\nhost: x\r\n\r\n"],
    ["an absolute target", "GET http://x/ HTTP/1.1\r\nhost: x\r\n\r\n"],
    ["a blank in the target", "GET /a b HTTP/1.1\r\nhost: x\r\n\r\n"],
    ["no host", "GET / HTTP/1.1\r\n\r\n"],
    ["two hosts", "GET / HTTP/1.1\r\nhost: x\r\nhost: y\r\n\r\n"],
    ["two lengths", "POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ncontent-length: 1\r\n\r\na"],
    ["an invalid length", "POST / HTTP/1.1\r\nhost: x\r\ncontent-length: +1\r\n\r\na"],
    ["a body in chunks", "POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n"],
    ["a question before the body", "POST / HTTP/1.1\r\nhost: x\r\nexpect: 100-continue\r\n\r\n"],
    ["another protocol", "GET / HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: h2c\r\n\r\n"],
    ["the wish to close", "GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n"],
    ["the wish to close in its old spelling", "GET / HTTP/1.1\r\nhost: x\r\nproxy-connection: close\r\n\r\n"],
    ["a continued line", "GET / HTTP/1.1\r\nhost: x\r\nx-a: b\r\n c\r\n\r\n"],
    ["a blank before the colon", "GET / HTTP/1.1\r\nhost: x\r\nx-a : b\r\n\r\n"],
    ["a bare line feed", "GET / HTTP/1.1\r\nhost: x\nx-a: b\r\n\r\n"],
    ["a bare carriage return", "GET / HTTP/1.1\r\nhost: x\r\nx-a: b\rc\r\n\r\n"],
    ["bytes beyond ASCII", "GET / HTTP/1.1\r\nhost: x\r\nx-a: \xe4\r\n\r\n"],
    ["an empty line before", "\r\nGET / HTTP/1.1\r\nhost: x\r\n\r\n"],
    ["a long head", `GET / HTTP/1.1\r\nhost: x\r\nx-a: ${"b".repeat(20_000)}\r\n\r\n`],
  ])("leaves %s to Node", (_what, text) => {
    expect(parse(text)).toBeUndefined();
  });
});
