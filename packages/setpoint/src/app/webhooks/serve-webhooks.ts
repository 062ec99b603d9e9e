import type { WebhookServer, WebhookServerOptions } from "./webhook-server.js";

/**
 * Serves the webhooks and custom routes of apps, and tells the API server where: see {@link WebhookServer}. Loaded when
 * it is called, since most processes serve none.
 *
 * ```ts
 * await using webhooks = await serveWebhooks({ apps: [shop], client });
 * ```
 */
export async function serveWebhooks(options: WebhookServerOptions): Promise<WebhookServer> {
  const { WebhookServer: Server } = await import("./webhook-server.js");
  return Server.start(options);
}
