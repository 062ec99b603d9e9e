import type { Socket } from "node:net";
import { connect, type TLSSocket } from "node:tls";
import { type Random, systemClock } from "setpoint/clock";
import { acceptOf } from "./handshake.js";
import { WebSocketConnection } from "./websocket.js";

export interface WebSocketCall {
  readonly url: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly random: Random;
}

/** The response to a handshake; `connection` is present if it was accepted. */
export interface WebSocketAnswer {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly connection: WebSocketConnection | undefined;
  readonly socket: TLSSocket;
}

const KEY = "dGhlIHNhbXBsZSBub25jZQ==";

/** A minimal WebSocket client over TLS: a handshake, then {@link WebSocketConnection} with masks. */
export async function openWebSocket({ url, path, headers, random }: WebSocketCall): Promise<WebSocketAnswer> {
  const { hostname, port, host, origin } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), rejectUnauthorized: false });
  const sent = {
    host,
    connection: "Upgrade",
    upgrade: "websocket",
    "sec-websocket-key": KEY,
    "sec-websocket-version": "13",
    origin,
    ...headers,
  };
  const lines = Object.entries(sent).filter(([, value]) => value !== "");
  socket.write(`GET ${path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n`);
  const head = await readHead(socket);
  const [statusLine, ...rest] = head.split("\r\n");
  const status = Number(statusLine!.split(" ")[1]);
  const answered = new Map(rest.map((line) => line.split(": ", 2) as [string, string]).map(lowerName));
  const isOpen = status === 101 && answered.get("sec-websocket-accept") === acceptOf(KEY);
  const connection = isOpen
    ? new WebSocketConnection(socket, { clock: systemClock, nextMask: () => mask(random) })
    : undefined;
  return { status, headers: answered, connection, socket };
}

export function mask(random: Random): Uint8Array {
  return Uint8Array.from({ length: 4 }, () => Math.floor(random.next() * 256));
}

function lowerName([name, value]: [string, string]): [string, string] {
  return [name.toLowerCase(), value];
}

/** The lines of the response head; the bytes after it stay unread. */
function readHead(socket: Socket): Promise<string> {
  return new Promise((resolve, reject) => {
    let bytes = Buffer.alloc(0);
    const onReadable = (): void => {
      for (let chunk = socket.read(); chunk !== null; chunk = socket.read()) bytes = Buffer.concat([bytes, chunk]);
      const end = bytes.indexOf("\r\n\r\n");
      if (end < 0) return;
      socket.off("readable", onReadable);
      socket.off("close", onClose);
      if (bytes.length > end + 4) socket.unshift(bytes.subarray(end + 4));
      resolve(bytes.toString("latin1", 0, end));
    };
    const onClose = (): void => reject(new Error(`closed within the head: ${bytes.toString("latin1")}`));
    socket.on("readable", onReadable);
    socket.on("close", onClose);
    socket.on("error", () => {});
  });
}
