// A load generator on bare TLS sockets: HTTP/1.1 written and read by hand, so that the client costs as little as
// possible.
import { connect } from "node:tls";

const HEAD_END = Buffer.from("\r\n\r\n");

/** One keep-alive connection with one request in flight at a time. */
export class Connection {
  #socket;
  #received = Buffer.alloc(0);
  #waiting;

  static async open({ port, ca, cert, key }) {
    const connection = new Connection();
    await new Promise((resolve, reject) => {
      connection.#socket = connect({ host: "127.0.0.1", port, ca, cert, key, ALPNProtocols: ["http/1.1"] }, resolve);
      connection.#socket.once("error", reject);
      connection.#socket.setNoDelay(true);
    });
    connection.#socket.on("data", (chunk) => connection.#onData(chunk));
    connection.#socket.on("error", (error) => connection.#waiting?.reject(error));
    connection.#socket.on("close", () => connection.#waiting?.reject(new Error("the server closed the connection")));
    return connection;
  }

  /** Resolves to status and body. */
  send(bytes) {
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      this.#socket.write(bytes);
    });
  }

  close() {
    this.#socket.destroy();
  }

  #onData(chunk) {
    this.#received = this.#received.length === 0 ? chunk : Buffer.concat([this.#received, chunk]);
    const answer = parseAnswer(this.#received);
    if (!answer) return;
    this.#received = this.#received.subarray(answer.end);
    const { resolve } = this.#waiting;
    this.#waiting = undefined;
    resolve(answer);
  }
}

/** The first response in `bytes`, or undefined if it is incomplete. */
export function parseAnswer(bytes) {
  const headEnd = bytes.indexOf(HEAD_END);
  if (headEnd < 0) return undefined;
  const head = bytes.latin1Slice(0, headEnd);
  const status = Number(head.slice(9, 12));
  const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1];
  const start = headEnd + HEAD_END.length;
  if (length !== undefined) {
    const end = start + Number(length);
    return bytes.length < end ? undefined : { status, body: bytes.subarray(start, end), end };
  }
  return parseChunks(bytes, start, status);
}

function parseChunks(bytes, start, status) {
  const chunks = [];
  for (let at = start; ; ) {
    const lineEnd = bytes.indexOf("\r\n", at);
    if (lineEnd < 0) return undefined;
    const size = Number.parseInt(bytes.latin1Slice(at, lineEnd), 16);
    const end = lineEnd + 2 + size + 2;
    if (bytes.length < end) return undefined;
    if (size === 0) return { status, body: Buffer.concat(chunks), end };
    chunks.push(bytes.subarray(lineEnd + 2, lineEnd + 2 + size));
    at = end;
  }
}

/** The bytes of one request. */
export function requestBytes({ method, path, body, contentType = "application/json", token }) {
  const payload =
    body === undefined ? Buffer.alloc(0) : Buffer.from(typeof body === "string" ? body : JSON.stringify(body));
  const lines = [
    `${method} ${path} HTTP/1.1`,
    "host: 127.0.0.1",
    "user-agent: loader",
    "accept: application/json",
    ...(token ? [`authorization: Bearer ${token}`] : []),
    ...(body === undefined ? [] : [`content-type: ${contentType}`, `content-length: ${payload.length}`]),
  ];
  return Buffer.concat([Buffer.from(`${lines.join("\r\n")}\r\n\r\n`), payload]);
}

/**
 * Sends `count` requests over `connections` keep-alive connections, one at a time on each; `requestAt(index)` returns
 * each. Each connection sends the bytes `first`, if given, before the measurement starts. Any status but 200 or 201
 * ends the run. Resolves to the requests per second.
 */
export async function load(target, { connections, count, requestAt, first }) {
  const open = await Promise.all(Array.from({ length: connections }, () => Connection.open(target)));
  try {
    if (first !== undefined) await Promise.all(open.map((connection) => connection.send(first)));
    let next = 0;
    const work = async (connection) => {
      while (next < count) {
        const answer = await connection.send(requestBytes({ ...requestAt(next++), token: target.token }));
        if (answer.status !== 200 && answer.status !== 201) throw new Error(`${answer.status} ${answer.body}`);
      }
    };
    const startedMs = performance.now();
    await Promise.all(open.map(work));
    return (count * 1000) / (performance.now() - startedMs);
  } finally {
    for (const connection of open) connection.close();
  }
}

/** One request on its own connection; resolves to status and body. */
export async function once(target, request) {
  const connection = await Connection.open(target);
  try {
    return await connection.send(requestBytes({ ...request, token: target.token }));
  } finally {
    connection.close();
  }
}

/** Opens a watch; `onEvent` gets the bytes of each line. Resolves when the response head has arrived. */
export async function watch(target, path, onEvent) {
  const { port, ca, cert, key, token } = target;
  const socket = connect({ host: "127.0.0.1", port, ca, cert, key, ALPNProtocols: ["http/1.1"] });
  await new Promise((resolve, reject) => {
    socket.once("secureConnect", resolve);
    socket.once("error", reject);
  });
  let isOpen = false;
  const opened = new Promise((resolve, reject) => {
    socket.on("error", reject);
    socket.on("data", (chunk) => {
      if (!isOpen) {
        isOpen = true;
        if (!chunk.latin1Slice(0, 15).startsWith("HTTP/1.1 200")) reject(new Error(chunk.toString()));
        resolve();
      }
      if (chunk.includes('"type":"')) onEvent(chunk);
    });
  });
  socket.write(requestBytes({ method: "GET", path, token }));
  await opened;
  return { close: () => socket.destroy() };
}
