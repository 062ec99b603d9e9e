import { Agent, request } from "node:https";

/** Requests of one user over keep-alive connections. */
export class Caller {
  #agent;
  #options;

  constructor(port, user, maxSockets) {
    this.#agent = new Agent({ keepAlive: true, maxSockets, rejectUnauthorized: false });
    this.#options = { host: "127.0.0.1", port, agent: this.#agent, headers: { authorization: `Bearer ${user}-token` } };
  }

  /** Resolves to status and text; rejects if the connection breaks. */
  send(method, path, body, headers = {}) {
    const bytes = body === undefined ? undefined : Buffer.from(typeof body === "string" ? body : JSON.stringify(body));
    const content = bytes && { "content-type": "application/json", "content-length": bytes.length };
    return new Promise((resolve, reject) => {
      const sent = request(
        { ...this.#options, method, path, headers: { ...this.#options.headers, ...content, ...headers } },
        (response) => {
          const chunks = [];
          response.on("data", (chunk) => chunks.push(chunk));
          response.on("end", () => resolve({ status: response.statusCode, text: Buffer.concat(chunks).toString() }));
          response.on("error", reject);
        },
      );
      sent.on("error", reject);
      sent.end(bytes);
    });
  }

  close() {
    this.#agent.destroy();
  }
}
