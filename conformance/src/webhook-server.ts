import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Body } from "./session.js";

/** The response of a webhook: a body, or a status with text; undefined never answers. */
export type HookAnswer = { readonly body: Body } | { readonly status: number; readonly text: string } | undefined;
export type HookHandler = (request: Body) => HookAnswer;

/** One HTTPS server for the webhooks of all cases, each under its own path; it can act as an API as well. */
export class WebhookServer implements AsyncDisposable {
  readonly caBundle: string;
  readonly #server: Server;
  readonly #handlers = new Map<string, HookHandler>();

  private constructor(server: Server, certificate: string) {
    this.#server = server;
    this.caBundle = Buffer.from(certificate).toString("base64");
  }

  static async start(): Promise<WebhookServer> {
    const dir = mkdtempSync(join(tmpdir(), "setpoint-webhook-"));
    const [key, cert] = [join(dir, "key.pem"), join(dir, "cert.pem")];
    const subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost"];
    const curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"];
    execFileSync(
      "openssl",
      ["req", "-x509", ...curve, "-nodes", "-days", "2", "-keyout", key, "-out", cert, ...subject],
      { stdio: "ignore" },
    );
    const certificate = readFileSync(cert, "utf8");
    const server = createServer({ key: readFileSync(key), cert: certificate });
    rmSync(dir, { recursive: true });
    const made = new WebhookServer(server, certificate);
    server.on("request", (incoming, outgoing) => {
      const chunks: Buffer[] = [];
      incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
      incoming.on("end", () => {
        const path = new URL(incoming.url ?? "/", "https://localhost").pathname;
        const text = Buffer.concat(chunks).toString("utf8");
        const handler = made.#handlers.get(path) ?? (() => ({ status: 404, text: "not found" }));
        const answer = handler(text === "" ? undefined : JSON.parse(text));
        if (answer === undefined) return;
        const isBody = "body" in answer;
        outgoing.writeHead(isBody ? 200 : answer.status, {
          "content-type": isBody ? "application/json" : "text/plain",
        });
        outgoing.end(isBody ? JSON.stringify(answer.body) : answer.text);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return made;
  }

  /** Serves `handler` under `path`; returns the URL for a clientConfig. */
  serve(path: string, handler: HookHandler): string {
    this.#handlers.set(path, handler);
    return `https://127.0.0.1:${(this.#server.address() as AddressInfo).port}${path}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
