import { createServer, type IncomingMessage, type Server } from "node:http";
import { Duplex } from "node:stream";

/** A parsed request. */
export interface ReadRequest {
  readonly method: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** One character per byte. */
  readonly body: string;
}

/** Node's own HTTP/1.1 server, on streams instead of sockets. */
export class NodeParser implements Disposable {
  readonly #server: Server;
  readonly #requests: (Promise<ReadRequest | string> | string)[] = [];

  constructor() {
    // The same options as in ApiServer.
    this.#server = createServer({ maxHeaderSize: 2 ** 20, requestTimeout: 0, headersTimeout: 0, keepAliveTimeout: 0 });
    // Requests before the end of the input are answered after it.
    Object.assign(this.#server, { maxHeadersCount: 0, httpAllowHalfOpen: true });
    this.#server.on("request", (request, response) => {
      const reading = read(request).finally(() => response.end());
      this.#requests.push(reading.catch((error: Error) => `broken off: ${error.message}`));
    });
    for (const event of ["checkContinue", "checkExpectation", "connect", "upgrade"]) {
      this.#server.on(event, (request: IncomingMessage) => this.#requests.push(`${event} for ${request.url}`));
    }
    this.#server.on("clientError", (error: Error, socket) => {
      this.#requests.push(`refused: ${error.message}`);
      socket.destroy();
    });
  }

  /** The requests of one connection that sends `bytes` and ends; a text for anything that is no plain request. */
  async read(bytes: Buffer): Promise<readonly (ReadRequest | string)[]> {
    this.#requests.length = 0;
    const socket = new Duplex({ read: () => {}, write: (_chunk, _encoding, done) => done() });
    const isClosed = new Promise((resolve) => socket.once("close", resolve));
    this.#server.emit("connection", socket);
    socket.push(bytes);
    socket.push(null);
    await isClosed;
    return Promise.all(this.#requests);
  }

  [Symbol.dispose](): void {
    this.#server.close();
  }
}

async function read(request: IncomingMessage): Promise<ReadRequest> {
  let body = "";
  request.setEncoding("latin1");
  for await (const chunk of request) body += chunk;
  const headers: Record<string, string | readonly string[]> = Object.create(null);
  for (const [name, values] of Object.entries(request.headersDistinct)) {
    const isList = name.startsWith("impersonate-") && values!.length > 1;
    headers[name] = isList ? values! : values!.join(", ");
  }
  return { method: request.method!, target: request.url!, headers, body };
}
