import { Buffer } from "node:buffer";
import { type RequestOptions, request } from "node:https";
import type { WebhookServer } from "./webhook-server.js";

export interface Answered {
  readonly status: number;
  readonly body: string;
}

/** The response of a webhook server on this machine. */
export function ask(
  { port, caBundle }: Pick<WebhookServer, "port" | "caBundle">,
  path: string,
  { body = "", ...options }: RequestOptions & { readonly body?: string | Buffer } = {},
): Promise<Answered> {
  const ca = Buffer.from(caBundle, "base64");
  return new Promise((resolve, reject) => {
    request({ host: "127.0.0.1", port, path, ca, agent: false, ...options }, async (response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of response as AsyncIterable<Buffer>) chunks.push(chunk);
      resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString("utf8") });
    })
      .on("error", reject)
      .end(body);
  });
}
