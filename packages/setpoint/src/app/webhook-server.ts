import { Buffer } from "node:buffer";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Server } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import type { Client } from "../client/client.js";
import type { Clock } from "../clock/clock.js";
import { type Random, systemRandom } from "../clock/random.js";
import { systemClock } from "../clock/system-clock.js";
import { type Logger, silentLogger } from "../controller/logger.js";
import { messageOf } from "../controller/outcome.js";
import { SetpointError } from "../errors/error.js";
import { mutateReview, validateReview } from "./admission-review.js";
import type { App } from "./app.js";
import { CertificateSecret } from "./certificate-secret.js";
import { convertReview } from "./conversion-review.js";
import { isRefusal } from "./refused-error.js";
import { routeAnswer } from "./route.js";
import { type RouteGuard, reviewedRoutes } from "./route-access.js";
import { ServingCertificate } from "./serving-certificate.js";
import { errorAnswer, textAnswer, type WebAnswer, type WebRequest } from "./web-message.js";
import { isLoopback, type WebhookAddress, type WebhookPlace, webhookAddress } from "./webhook-address.js";
import { installApp, uninstallWebhooks, webhookPath } from "./webhook-configuration.js";

/** Reviews hold two objects of at most 1.5 MB each, and some room. */
const MAX_BODY_BYTES = 8 * 2 ** 20;

const WEBHOOKS = ["validate", "mutate", "convert"] as const;

/** How long requests in flight may take on a stop. */
const GRACE_MS = 5_000;

/** How long API servers may take to trust an authority that they were told of. */
const TRUST_MS = 10_000;
/** After an authority could not be installed. */
const INSTALL_RETRY_MS = 60_000;

export interface WebhookServerOptions extends WebhookPlace {
  /** More by {@link WebhookServer.add}. */
  readonly apps: readonly App[];
  /** Of the API server that is to call. */
  readonly client: Client;
  /** Defaults to 0, any free one, on a laptop, and to 9443 behind a Service or a URL. */
  readonly port?: number;
  /** False: kinds and webhooks were installed by somebody else, who trusts the certificate in the Service's Secret. */
  readonly install?: boolean;
  readonly clock?: Clock;
  readonly random?: Random;
  readonly log?: Logger;
  /** Told of each request when it comes, by the name of its webhook (see {@link AnsweredRequest}): for metrics. Must not throw. */
  readonly onAsked?: (webhook: string) => void;
  /** Told of each request that was answered, or given up: for metrics. Must not throw. */
  readonly onAnswered?: (request: AnsweredRequest) => void;
}

export interface AnsweredRequest {
  /** The path of the webhook (`/shop/validate`), `routes` for all custom routes, `unknown` for what nobody serves. */
  readonly webhook: string;
  readonly status: number;
  readonly durationMs: number;
}

/**
 * Serves the webhooks and custom routes of apps over HTTPS, and tells the API server where: certificates are made,
 * rotated and installed. One server does for all apps of a process.
 *
 * On a laptop with a local control plane nothing has to be said; in a pod `service` names the Service before it. For a
 * remote cluster without either, `start` rejects with `WEBHOOK_UNREACHABLE`.
 *
 * Custom routes are open to this machine; from elsewhere a bearer token is asked for, and the cluster's RBAC whether its
 * user may: verb, resource and subresource as for any object.
 *
 * A manager serves those of its apps by itself; this is for processes that have none.
 *
 * ```ts
 * await using webhooks = await serveWebhooks({ apps: [shop], client });
 * ```
 */
export class WebhookServer implements AsyncDisposable {
  readonly #options: WebhookServerOptions;
  readonly #address: WebhookAddress;
  readonly #certificate: ServingCertificate;
  readonly #server: Server;
  readonly #guard: RouteGuard;
  readonly #log: Logger;
  readonly #inFlight = new Set<Promise<void>>();
  readonly #apps = new Set<App>();
  readonly #stopping = new AbortController();
  #installing: Promise<void> = Promise.resolve();

  private constructor(options: WebhookServerOptions, address: WebhookAddress, certificate: ServingCertificate) {
    this.#options = options;
    for (const app of options.apps) this.#apps.add(app);
    this.#address = address;
    this.#certificate = certificate;
    this.#log = options.log ?? silentLogger;
    this.#guard = reviewedRoutes(options.client);
    // Loaded when first needed: importing this package must stay cheap for those who serve nothing.
    const { createServer } = process.getBuiltinModule("node:https");
    const tls = { ...this.#secureContext(), minVersion: "TLSv1.2" as const, requestTimeout: 30_000 };
    this.#server = createServer(tls, (request, response) => this.#onRequest(request, response));
    // Node hands out the socket of a CONNECT, for a tunnel that is never made here: a route answers it as any other.
    this.#server.on("connect", (request: IncomingMessage, socket: Socket) => {
      const response = new (process.getBuiltinModule("node:http").ServerResponse)(request);
      response.assignSocket(socket);
      this.#onRequest(
        request,
        response.once("finish", () => socket.end()),
      );
    });
  }

  /** Listens, then installs. Rejects with `WEBHOOK_UNREACHABLE`, `ADDRESS_UNAVAILABLE` or the API server's error. */
  static async start(options: WebhookServerOptions): Promise<WebhookServer> {
    const { client, service, clock = systemClock, random = systemRandom, log = silentLogger } = options;
    const address = webhookAddress(client.server, options);
    // The pods behind a Service show one certificate: a server that trusts one trusts all.
    const store = service && new CertificateSecret(client, service.namespace, `${service.name}-webhook-certificate`);
    const { hosts } = address;
    const certificate = await ServingCertificate.open({
      hosts,
      clock,
      random,
      ...(store ? { store } : {}),
      onRenewed: (isNewAuthority) => void server.#renewed(isNewAuthority),
      onError: (error) => log.error("could not look after the webhooks' certificate", { error }),
    });
    const server = new WebhookServer(options, address, certificate);
    try {
      await server.#listen();
      await server.#install();
      return server;
    } catch (error) {
      await server[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Where it listens. */
  get port(): number {
    return (this.#server.address() as AddressInfo | null)?.port ?? 0;
  }

  /** The authorities that its certificate can be checked with, base64 of PEM. */
  get caBundle(): string {
    return this.#certificate.caBundle;
  }

  /** Serves one more app, and installs it. Rejects with the API server's error; the app is then not served. */
  async add(app: App): Promise<void> {
    this.#apps.add(app);
    try {
      await this.#install([app]);
    } catch (error) {
      this.#apps.delete(app);
      throw error;
    }
  }

  /** Serves an app no longer; its webhooks are uninstalled first, so that no write waits for them. Its kinds stay. */
  async remove(app: App): Promise<void> {
    if (!this.#apps.has(app)) return;
    await this.#uninstall(app);
    this.#apps.delete(app);
  }

  /** Stops answering at once, as a process does that dies: what was installed stays. */
  abandon(): void {
    this.#certificate[Symbol.dispose]();
    this.#stopping.abort();
    this.#server.close();
    this.#server.closeAllConnections();
  }

  /** Stops. Where it was this process alone that served them, the webhooks are uninstalled. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#certificate[Symbol.dispose]();
    this.#stopping.abort();
    await this.#installing.catch(() => {});
    if (this.#address.isLocal && this.#server.listening) {
      for (const app of this.#apps) await this.#uninstall(app);
    }
    if (!this.#server.listening) return;
    const closed = new Promise((resolve) => this.#server.close(resolve));
    await this.#answered();
    // API servers keep connections in store, also some that were never used: these do not count as idle.
    this.#server.closeAllConnections();
    await closed;
  }

  /** Requests in flight are answered, within the grace. */
  async #answered(): Promise<void> {
    const { clock = systemClock } = this.#options;
    const over = new AbortController();
    const grace = clock.sleep(GRACE_MS, over.signal).catch(() => {});
    await Promise.race([grace, Promise.allSettled(this.#inFlight)]);
    over.abort();
  }

  async #listen(): Promise<void> {
    const { host } = this.#address;
    const { service, url, port = service || url ? 9443 : 0 } = this.#options;
    await new Promise<void>((resolve, reject) => {
      this.#server.once("error", (cause: NodeJS.ErrnoException) => {
        const message = `cannot listen on ${host}:${port}: ${cause.code ?? cause.message}`;
        reject(new SetpointError("ADDRESS_UNAVAILABLE", message, { cause }));
      });
      this.#server.listen(port, host, resolve);
    });
    this.#log.info("serving webhooks", { host, port: this.port });
  }

  #install(apps: Iterable<App> = this.#apps): Promise<void> {
    const { client, clock = systemClock, install = true } = this.#options;
    if (!install) return this.#installing;
    const target = (path: string) => this.#address.target(path, this.port);
    const installing = this.#installing
      .catch(() => {})
      .then(async () => {
        for (const app of apps) await installApp(client, app, { target, caBundle: this.caBundle, clock });
      });
    this.#installing = installing;
    return installing;
  }

  async #uninstall(app: App): Promise<void> {
    if (this.#options.install === false) return;
    await uninstallWebhooks(this.#options.client, app).catch((error: unknown) =>
      this.#log.warn("could not uninstall webhooks", { app: app.name, error }),
    );
  }

  #secureContext(): { cert: string; key: string } {
    const { certificate, privateKey } = this.#certificate.current;
    return { cert: certificate, key: privateKey };
  }

  /** Shows the new certificate; one of a new authority only once callers have been told to trust that. Never rejects. */
  async #renewed(isNewAuthority: boolean): Promise<void> {
    if (isNewAuthority) await this.#announce();
    if (this.#stopping.signal.aborted) return;
    this.#server.setSecureContext(this.#secureContext());
    this.#log.info("renewed the webhooks' certificate", { isNewAuthority });
  }

  /** Installs the authorities, however long that takes: until then the certificate before is shown. */
  async #announce(): Promise<void> {
    const { clock = systemClock } = this.#options;
    const { signal } = this.#stopping;
    for (let isInstalled = false; !isInstalled && !signal.aborted; ) {
      try {
        await this.#install();
        isInstalled = true;
      } catch (error) {
        this.#log.error("could not install the new authority", { error });
      }
      await clock.sleep(isInstalled ? TRUST_MS : INSTALL_RETRY_MS, signal).catch(() => {});
    }
  }

  #onRequest(request: IncomingMessage, response: ServerResponse): void {
    const serving = this.#serve(request, response).finally(() => this.#inFlight.delete(serving));
    this.#inFlight.add(serving);
  }

  async #serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const { clock = systemClock, onAsked, onAnswered } = this.#options;
    const startedMs = clock.monotonic();
    const webhook = this.#nameOf(incoming.url ?? "/");
    onAsked?.(webhook);
    const gone = new AbortController();
    response.once("close", () => gone.abort());
    const answer = await this.#answer(incoming, gone.signal).catch(errorAnswer);
    onAnswered?.({ webhook, status: answer.status, durationMs: clock.monotonic() - startedMs });
    if (response.destroyed) return;
    response.writeHead(answer.status, { "cache-control": "no-store", ...answer.headers });
    await new Promise<void>((resolve) => response.once("close", resolve).end(answer.body, () => resolve()));
  }

  #nameOf(url: string): string {
    const path = url.split("?")[0]!;
    if (path.startsWith("/apis/")) return "routes";
    const isKnown = [...this.#apps].some((app) => WEBHOOKS.some((type) => path === webhookPath(app, type)));
    return isKnown ? path : "unknown";
  }

  async #answer(incoming: IncomingMessage, signal: AbortSignal): Promise<WebAnswer> {
    const body = await readBody(incoming);
    if (!body) return textAnswer(413, `the body is larger than ${MAX_BODY_BYTES} bytes`);
    const url = new URL(incoming.url ?? "/", "https://webhooks");
    const { method = "GET", headers } = incoming;
    const path = url.pathname;
    const onThrown = (error: unknown): void => {
      if (!isRefusal(error)) this.#log.error(`${method} ${path} failed: ${messageOf(error)}`, { error });
    };
    const request: WebRequest = { method, path, query: url.searchParams, headers, body, signal, onThrown };
    for (const app of this.#apps) {
      if (request.path === webhookPath(app, "validate")) return validateReview(app.validators, request);
      if (request.path === webhookPath(app, "mutate")) return mutateReview(app.mutators, request);
      if (request.path === webhookPath(app, "convert")) return convertReview(app.converters, request);
    }
    if (!request.path.startsWith("/apis/")) return textAnswer(404, "not found");
    const routes = [...this.#apps].flatMap((app) => app.routes);
    const refusal = isLoopback(incoming.socket.remoteAddress ?? "") ? undefined : await this.#guard(routes, request);
    return refusal ?? routeAnswer(routes, request);
  }
}

/** Undefined for a body that is too large. */
async function readBody(incoming: IncomingMessage): Promise<Uint8Array | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BODY_BYTES) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
