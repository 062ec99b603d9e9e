import type { Random } from "setpoint/clock";

/** Generates HTTP/1.1 requests: some as clients send them, most with one to three changes that parsers disagree on. */
export class RequestMutations {
  readonly #random: Random;
  #repeated: Buffer | undefined;

  constructor(random: Random) {
    this.#random = random;
  }

  next(): Buffer {
    // The parser caches the latest head, so the same bytes are repeated now and then.
    if (this.#repeated !== undefined && this.#random.next() < 0.05) return this.#repeated;
    let text = this.#request();
    for (let left = this.#below(4); left > 0; left--) text = this.#mutated(text);
    this.#repeated = Buffer.from(text, "latin1");
    return this.#repeated;
  }

  #below(end: number): number {
    return Math.floor(this.#random.next() * end);
  }

  #of<T>(values: readonly T[]): T {
    return values[this.#below(values.length)]!;
  }

  #request(): string {
    const body = this.#random.next() < 0.4 ? this.#of(BODIES) : "";
    const lines = [`${this.#of(METHODS)} ${this.#of(TARGETS)} HTTP/1.1`, `${this.#of(["host", "Host"])}: x`];
    for (let left = this.#below(4); left > 0; left--) lines.push(this.#of(ORDINARY));
    if (body !== "" || this.#random.next() < 0.2) lines.push(`Content-Length: ${body.length}`);
    return `${lines.join("\r\n")}\r\n\r\n${body}`;
  }

  #mutated(text: string): string {
    const at = this.#below(text.length + 1);
    const headEnd = text.indexOf("\r\n\r\n");
    const inHead = this.#below((headEnd < 0 ? text.length : headEnd) + 1);
    switch (this.#below(9)) {
      case 0:
      case 1:
      case 2:
        return this.#withLine(text, this.#of(HOSTILE));
      case 3:
        return text.slice(0, at) + this.#of(BYTES) + text.slice(at);
      case 4:
        return text.slice(0, inHead) + this.#of(BYTES) + text.slice(inHead + 1);
      case 5:
        return text.slice(0, inHead) + text.slice(inHead + 1 + this.#below(3));
      case 6:
        return this.#withLineEnd(text);
      case 7:
        return this.#of(STARTS) + text.slice(text.indexOf(" HTTP/"));
      default:
        return this.#grown(text);
    }
  }

  /** With an additional header line, somewhere below the request line. */
  #withLine(text: string, line: string): string {
    const ends = [...text.matchAll(/\r\n(?!\r\n)/g)].map(({ index }) => index);
    if (ends.length === 0) return text + line;
    const at = this.#of(ends) + 2;
    return `${text.slice(0, at)}${line}\r\n${text.slice(at)}`;
  }

  #withLineEnd(text: string): string {
    const ends = [...text.matchAll(/\r\n/g)].map(({ index }) => index);
    if (ends.length === 0) return text;
    const at = this.#of(ends);
    return text.slice(0, at) + this.#of(LINE_ENDS) + text.slice(at + 2);
  }

  /** Around the limits of a head: many headers, long ones, long targets. */
  #grown(text: string): string {
    if (this.#random.next() < 0.9) return this.#withLine(text, `x-${this.#below(100)}:${this.#of(VALUES)}`);
    const size = this.#of([2_000, 8_000, 16_000, 16_384, 17_000]) - this.#below(80);
    const kind = this.#below(3);
    if (kind === 0) return this.#withLine(text, `x-long: ${"v".repeat(size)}`);
    if (kind === 1) return this.#withLine(text, "a:\r\n".repeat(size / 4).slice(0, -2));
    return text.replace(" /", ` /${"p".repeat(size)}`);
  }
}

const METHODS = ["GET", "GET", "POST", "PUT", "PATCH", "DELETE"];
const TARGETS = [
  ...["/", "/api/v1/pods", "/api/v1/namespaces/a/configmaps/b?dryRun=All&x=%00", "/a?b=c#d", "//x/y", "/a//b/../c"],
  ...["/?", "/\\", '/{}|^`<>"', "/a;b=c,d", "/%2e%2e/%zz", "/*", "/http://x/", "/@:80"],
];
const ORDINARY = [
  ...["Accept: application/json", "Accept:application/json, */*", "authorization: Bearer abc.def", "User-Agent: go/1"],
  ...["Connection: keep-alive", "connection: Keep-Alive", "keep-alive: timeout=5", "Content-Type: application/json"],
  ...["Impersonate-User: a", "Impersonate-Group: b", "Impersonate-Group: c", "cookie: a=b", "cookie: c=d"],
  ...["Set-Cookie: a", "set-cookie: b", "Accept-Encoding: gzip", "X-Empty:", 'if-match: "1"', "date: today"],
];
const BODIES = [
  ...["{}", "hello", "a".repeat(1_000), "\r\n\r\n", "0\r\n\r\n", "GET /inner HTTP/1.1\r\nhost: y\r\n\r\n"],
  ...["5\r\nhello\r\n0\r\n\r\n", "\x00\xff\x80", "\n", "5;a=b\r\nhello\r\n0\r\nx: y\r\n\r\n"],
];
const HOSTILE = [
  ...["Content-Length: 0", "Content-Length: 1", "content-length: 5", "Content-Length: 05", "Content-Length: +5"],
  ...["Content-Length: -1", "Content-Length: 5, 5", "Content-Length: 5,6", "Content-Length: 0x5", "Content-Length:"],
  ...["Content-Length: 5 5", "Content-Length:\t5", "Content-Length: 5\t", "Content-Length : 5", "Content-Length: 1e1"],
  ...["Content-Length: 18446744073709551616", "Content-Length: 4294967297", "Content-Length: 000000000000000005"],
  ...[
    "Content-Length: 5\x0b",
    "Content-Length\x00: 5",
    "Content_Length: 5",
    "Content-Length: \xb2",
    " Content-Length: 5",
  ],
  ...["Transfer-Encoding: chunked", "transfer-encoding: Chunked", "Transfer-Encoding : chunked", "Transfer-Encoding:"],
  ...["Transfer-Encoding: identity", "Transfer-Encoding: gzip, chunked", "Transfer-Encoding: chunked, identity"],
  ...["Transfer-Encoding:\x0bchunked", "Transfer-Encoding: xchunked", "\tTransfer-Encoding: chunked", "TE: trailers"],
  ...["Transfer_Encoding: chunked", "X: y\rTransfer-Encoding: chunked", "X: y\nTransfer-Encoding: chunked"],
  ...["Host: y", "host:", "Host : y", "Host: a,b", " folded", "\tfolded", "X-Fold: a\r\n b", "X-Fold:\r\n b", ": none"],
  ...[
    "no colon",
    "x : y",
    "x-pad\t: z",
    "x y: z",
    "x\ty: z",
    "x(y): z",
    "x@y: z",
    '"x": z',
    "x: \x00",
    "x: \x7f",
    "x: \xe9",
    "\xe9: x",
    "x: \x01",
  ],
  ...["Connection: close", "connection: Close", "Connection: upgrade", "Connection: keep-alive, close", "Connection:"],
  ...["Connection: keep-alive, keep-alive", "Connection: closed", "Connection: te", "Connection: keep-alive "],
  ...["Proxy-Connection: close", "Proxy-Connection: keep-alive", "Proxy-Connection: upgrade", "Keep-Alive: close"],
  ...[
    "Upgrade: h2c",
    "upgrade: websocket",
    "Expect: 100-continue",
    "Expect: x",
    "Trailer: x",
    "HTTP2-Settings: AAMAAABk",
  ],
  ...[
    "__proto__: x",
    "constructor: x",
    "toString: y",
    "x:  padded  ",
    "x: a\tb",
    "x:\t \ta",
    "x: a:b",
    "x::",
    "!#$%&'*+.^_`|~: x",
  ],
];
const BYTES = [
  ...[
    "\x00",
    "\t",
    "\n",
    "\r",
    " ",
    ":",
    ",",
    "\r\n",
    "\r\n\r\n",
    "\n\n",
    "\x0b",
    "\x0c",
    "\x7f",
    "\x80",
    "\xa0",
    "\xff",
  ],
  ...["/", "#", "?", "a", "A", "0", "5", "-", "_", "(", '"', ";", "=", "[", "{"],
];
const LINE_ENDS = [
  "\n",
  "\r",
  "\r\r\n",
  "\n\r",
  "\r\n ",
  "\r\n\t",
  " \r\n",
  "\t\r\n",
  "\r\n\r\n",
  "",
  "\x00\r\n",
  "\x85",
];
const STARTS = [
  ...[
    "GET http://x/a",
    "GET https://y:1/",
    "GET //a",
    "GET *",
    "OPTIONS *",
    "CONNECT x:1",
    "HEAD /",
    "get /",
    "GET  /",
  ],
  ...[
    "GET\t/",
    " GET /",
    "\r\nGET /",
    "\nGET /",
    "GET /a b",
    "GET /\t",
    "GET /\xe9",
    "GET /\x00",
    "GET x",
    "GET ",
    "GET",
  ],
  ...[
    "PRI *",
    "GETT /",
    "PUT\x00 /",
    "POST /a?\x7f",
    "SOURCE /",
    "M-SEARCH /",
    "QUERY /",
    "GET /#",
    "DELETE ?a",
    "PATCH /\r",
  ],
];
const VALUES = ["", " ", " a", "\ta", " a ", " a, b", ' "q"', " (c)", " a;b=c", " ~", " !", " :", " \\", " 0"];
