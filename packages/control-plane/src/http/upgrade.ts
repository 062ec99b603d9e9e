import type { IncomingMessage, ServerResponse } from "node:http";
import type { ApiResponse } from "../api/api-request.js";

/** The protocol that a request asks to switch to. Undefined if it has a body, which must be read first. */
export function upgradeOf({ headers }: IncomingMessage): string | undefined {
  const hasBody = headers["transfer-encoding"] !== undefined || (headers["content-length"] ?? "0") !== "0";
  return hasBody ? undefined : headers.upgrade;
}

/** The head of a request as sent, without its upgrade headers: HTTP allows a server to ignore them. */
export function headWithoutUpgrade({ method, url, rawHeaders }: IncomingMessage): Buffer {
  let text = `${method} ${url} HTTP/1.1\r\n`;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    if (!/^(?:upgrade|connection)$/i.test(rawHeaders[at]!)) text += `${rawHeaders[at]}: ${rawHeaders[at + 1]}\r\n`;
  }
  return Buffer.from(`${text}\r\n`, "latin1");
}

/** Sends the 101 response and runs the new protocol. Resolves when the connection ends. */
export async function switchProtocols(response: ServerResponse, answer: ApiResponse): Promise<void> {
  const socket = response.socket!;
  response.detachSocket(socket);
  const lines = Object.entries(answer.headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`HTTP/1.1 101 Switching Protocols\r\n${lines.join("")}\r\n`, "latin1");
  try {
    await answer.takeOver!(socket);
  } finally {
    if (!socket.writableEnded) socket.destroy();
  }
}
