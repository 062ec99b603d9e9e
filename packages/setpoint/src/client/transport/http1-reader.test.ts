import { Buffer } from "node:buffer";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Http1Reader, type ResponseHead } from "./http1-reader.js";

interface Read {
  readonly heads: ResponseHead[];
  readonly text: string;
  readonly pieces: number;
  readonly isComplete: boolean;
}

/** Feeds a response in pieces; each piece is a copy, because the reader moves bytes within it. */
function read(pieces: readonly Uint8Array[], options: { method?: string; close?: boolean } = {}): Read {
  const heads: ResponseHead[] = [];
  const data: Buffer[] = [];
  let isComplete = false;
  const reader = new Http1Reader({
    onHead: (head) => heads.push(head),
    onData: (bytes) => data.push(Buffer.from(bytes)),
    onEnd: () => (isComplete = true),
  });
  reader.expect(options.method ?? "GET");
  for (const piece of pieces) reader.push(Buffer.from(piece));
  if (options.close) isComplete = reader.finish();
  return { heads, text: Buffer.concat(data).toString(), pieces: data.length, isComplete };
}

const readText = (text: string, options?: { method?: string; close?: boolean }): Read =>
  read([Buffer.from(text, "utf8")], options);

function chunked(parts: readonly Buffer[]): Buffer {
  const encoded = parts.flatMap((part) => [Buffer.from(`${part.length.toString(16)}\r\n`), part, Buffer.from("\r\n")]);
  return Buffer.concat([...encoded, Buffer.from("0\r\n\r\n")]);
}

describe("the HTTP/1.1 reader", () => {
  it("reads a chunked body wherever it is cut", () => {
    const part = fc.uint8Array({ minLength: 1, maxLength: 60 }).map((bytes) => Buffer.from(bytes));
    fc.assert(
      fc.property(fc.array(part), fc.array(fc.nat(3000), { maxLength: 40 }), (parts, cuts) => {
        const response = Buffer.concat([
          Buffer.from("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"),
          chunked(parts),
        ]);
        const positions = [0, ...cuts.map((cut) => cut % (response.length + 1)).sort((a, b) => a - b), response.length];
        const pieces = positions.slice(1).map((end, index) => response.subarray(positions[index], end));
        const result = read(pieces.filter((piece) => piece.length > 0));
        expect(result.text).toBe(Buffer.concat(parts).toString());
        expect(result.isComplete).toBe(true);
      }),
    );
  });

  it("hands out all chunks of one socket read as one range", () => {
    const parts = ["first ", "second ", "third"].map((text) => Buffer.from(text));
    const head = Buffer.from("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n");
    expect(read([Buffer.concat([head, chunked(parts)])])).toMatchObject({ text: "first second third", pieces: 1 });
  });

  it("reads a body by its length, and knows whether the connection stays open", () => {
    const result = readText("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody");
    expect(result).toMatchObject({ text: "body", isComplete: true, heads: [{ status: 200, keepAlive: true }] });
    expect(readText("HTTP/1.1 200 OK\r\nConnection: Close\r\nContent-Length: 0\r\n\r\n").heads[0]!.keepAlive).toBe(
      false,
    );
    expect(readText("HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n").heads[0]!.keepAlive).toBe(false);
  });

  it("reads a body without a length up to the end of the connection", () => {
    expect(readText("HTTP/1.1 200 OK\r\n\r\nall of it", { close: true })).toMatchObject({
      text: "all of it",
      isComplete: true,
    });
  });

  it("reports a truncated response", () => {
    expect(readText("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nbody", { close: true }).isComplete).toBe(false);
    expect(
      readText("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n", { close: true }).isComplete,
    ).toBe(false);
    expect(readText("HTTP/1.1 200 O", { close: true }).isComplete).toBe(false);
  });

  it("has no body for HEAD, 204 and 304, whatever the headers say", () => {
    expect(readText("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", { method: "HEAD" }).isComplete).toBe(true);
    expect(readText("HTTP/1.1 204 No Content\r\n\r\n").isComplete).toBe(true);
    expect(readText("HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n").isComplete).toBe(true);
  });

  it("skips interim responses, chunk extensions and trailers", () => {
    const text =
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4;a=b\r\nbody\r\n0\r\nX: y\r\n\r\n";
    expect(readText(text)).toMatchObject({ text: "body", isComplete: true });
    expect(readText(text).heads).toHaveLength(1);
  });

  it("accepts header names such as constructor and __proto__", () => {
    const head =
      "HTTP/1.1 204 No Content\r\nconstructor: one\r\nConstructor: two\r\nvalueof: x\r\n__proto__: y\r\n\r\n";
    expect(readText(head).heads[0]?.headers).toEqual({ constructor: ["one", "two"], valueof: "x" });
  });

  it("keeps repeated headers apart, and lower-cases their names", () => {
    const { headers } = readText("HTTP/1.1 200 OK\r\nWarning: a\r\nWARNING: b\r\nContent-Length: 0\r\n\r\n").heads[0]!;
    expect(headers).toEqual({ warning: ["a", "b"], "content-length": "0" });
  });

  it.each([
    ["another protocol", "SSH-2.0-OpenSSH_9.2\r\n\r\n"],
    ["a bad header", "HTTP/1.1 200 OK\r\nnonsense\r\n\r\n"],
    ["a bad length", "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n"],
    ["an unknown encoding", "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n"],
    ["a chunk without a size", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\r\n"],
    ["a chunk size that is no number", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n"],
    ["a chunk size beyond reason", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffff\r\n"],
    ["a chunk longer than it says", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n"],
    ["several lengths", "HTTP/1.1 200 OK\r\nContent-Length: 4\r\nContent-Length: 4\r\n\r\nbody"],
    ["a list of lengths", "HTTP/1.1 200 OK\r\nContent-Length: 4, 4\r\n\r\nbody"],
    ["several encodings", "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"],
    ["a space before a colon", "HTTP/1.1 200 OK\r\nContent-Length : 4\r\n\r\nbody"],
    ["a carriage return in a chunk size", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r0\r\nabc"],
    ["a second number in a chunk size", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1 0\r\na\r\n"],
    ["a chunk size that ends early", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\na\r\n"],
    ["a chunk that ends twice", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\r\n"],
    ["an endless extension", `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;${"x".repeat(5_000)}\r\na\r\n`],
    ["more than the length", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nabc"],
    ["an endless head", `HTTP/1.1 200 OK\r\nX: ${"y".repeat(300_000)}`],
    ["a switch of protocols", "HTTP/1.1 101 Switching Protocols\r\n\r\n"],
  ])("rejects %s", (_, text) => {
    expect(() => readText(text)).toThrow(expect.objectContaining({ code: "TRANSPORT_BROKEN" }));
  });
});
