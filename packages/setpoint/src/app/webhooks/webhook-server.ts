import type { IncomingMessage, ServerResponse } from "node:http";
import type { Server } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import type { Client } from "../../client/client.js";
import { isLoopbackCaller } from "../../client/cluster/loopback.js";
import type { Clock } from "../../clock/clock.js";
import { type Random, systemRandom } from "../../clock/random.js";
import { systemClock } from "../../clock/system-clock.js";
import { SetpointError } from "../../errors/error.js";
import { type Fence, openFence } from "../../loop/fence.js";
import { type Logger, silentLogger } from "../../loop/logger.js";
import { messageOf } from "../../loop/outcome.js";
import type { App } from "../app.js";
import { AppInstaller } from "../app-installer.js";
import { secureContext } from "../certificates/certificate.js";
import { CertificateSecret } from "../certificates/certificate-secret.js";
import { ServingCertificate } from "../certificates/serving-certificate.js";
import { InstallationWatch } from "../installation-watch.js";
import { isRefusal, RefusedError } from "../refused-error.js";
import { routeAnswer, routeId } from "../routes/route.js";
import { type RouteGuard, reviewedRoutes } from "../routes/route-access.js";
import { errorAnswer, textAnswer, type WebAnswer, type WebRequest } from "../routes/web-message.js";
import { readBody, sendAnswer } from "../routes/web-response.js";
import { mutateReview, validateReview } from "./admission-review.js";
import { convertReview } from "./conversion-review.js";
import { findServer, type ServerPlace } from "./server-place.js";
import { type WebhookAddress, type WebhookPlace, webhookAddress } from "./webhook-address.js";
import { installedAuthorities, webhookPath } from "./webhook-configuration.js";

/** A review has two objects of at most 1.5 MB each; the rest is headroom. */
const MAX_BODY_BYTES = 8 * 2 ** 20;

type Review = "validate" | "mutate" | "convert";

/** How long a stop waits for requests in flight. */
const GRACE_MS = 5_000;

/** How long API servers may take to trust a new CA after its installation. */
const TRUST_MS = 10_000;
/** How long the installation may take if another process installs. */
const TELL_MS = 86_400_000;
/** The pause after a failed installation of a CA. */
const INSTALL_RETRY_MS = 60_000;

export interface WebhookServerOptions extends WebhookPlace {
  /** Add more with {@link WebhookServer.add}. */
  readonly apps: readonly App[];
  /** A client of the API server that calls the webhooks. */
  readonly client: Client;
  /** Defaults to 9443 behind a Service or a URL, otherwise to any free port. */
  readonly port?: number;
  /** False: another client installs kinds and webhooks, and trusts the certificate in the Service's Secret. */
  readonly install?: boolean;
  /**
   * The CA that the API server must trust if a tunnel or load balancer in front of this process terminates TLS: base64
   * of PEM, or `system` for the CAs that API servers trust anyway. Defaults to this server's own CA.
   */
  readonly caBundle?: string;
  /**
   * Once it is closed, nothing is installed and no certificate is renewed; what leads only to this process is still
   * uninstalled. Defaults to an open fence.
   */
  readonly fence?: Fence;
  readonly clock?: Clock;
  readonly random?: Random;
  readonly log?: Logger;
  /** Called when a request arrives, with the name of its webhook (see {@link AnsweredRequest}): for metrics. Must not throw. */
  readonly onAsked?: (webhook: string) => void;
  /** Called for each request that was answered or abandoned: for metrics. Must not throw. */
  readonly onAnswered?: (request: AnsweredRequest) => void;
  /** Called with what a handler or a route throws, before the response, to remove what callers must not see. Must not throw. */
  readonly onThrown?: (error: unknown) => void;
}

export interface AnsweredRequest {
  /** The path of the webhook (`/shop/validate`), `routes` for all custom routes, `unknown` for any other path. */
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
 * Custom routes are open to this machine where nobody else reaches them; with `service` or `url` a bearer token is asked
 * for, whoever calls, and the cluster's RBAC whether its user may: verb, resource and subresource as for any object.
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
  /** Removed apps whose definitions still name this server: their objects stay readable while it converts them. */
  readonly #retired = new Set<App>();
  readonly #stopping = new AbortController();
  /** None if another client installs. */
  readonly #installer: AppInstaller | undefined;
  readonly #installed: InstallationWatch | undefined;

  private constructor(options: WebhookServerOptions, address: WebhookAddress, certificate: ServingCertificate) {
    this.#options = options;
    for (const app of options.apps) this.#apps.add(app);
    this.#address = address;
    this.#certificate = certificate;
    this.#log = options.log ?? silentLogger;
    const { client, clock = systemClock, install = true, caBundle, fence = openFence } = options;
    this.#guard = reviewedRoutes(client);
    if (install) {
      this.#installer = new AppInstaller({
        ...{ client, fence, clock, log: this.#log, address, apps: () => this.#apps, port: () => this.port },
        caBundle: () => (caBundle === "system" ? undefined : (caBundle ?? this.caBundle)),
      });
      const { random = systemRandom } = options;
      const putBack = async (app: App): Promise<void> => this.#installer?.install([app]);
      this.#installed = new InstallationWatch({ client, clock, random, log: this.#log, putBack });
    }
    // Loaded on first use, so that importing this package stays cheap for processes without webhooks.
    const { createServer } = process.getBuiltinModule("node:https");
    const shown = certificate.shownAtStart(this.#trustMs);
    const tls = { ...secureContext(shown), minVersion: "TLSv1.2" as const, requestTimeout: 30_000 };
    this.#server = createServer(tls, (request, response) => this.#onRequest(request, response));
    // Node passes the socket of a CONNECT for a tunnel. There are no tunnels here, so routes answer it like any
    // request.
    this.#server.on("connect", (request: IncomingMessage, socket: Socket) => {
      const response = new (process.getBuiltinModule("node:http").ServerResponse)(request);
      response.assignSocket(socket);
      this.#onRequest(
        request,
        response.once("finish", () => socket.end()),
      );
    });
  }

  /** Listens, then installs. Rejects with `WEBHOOK_UNREACHABLE`, `WEBHOOK_TAKEN`, `ADDRESS_UNAVAILABLE` or the API server's error. */
  static async start(options: WebhookServerOptions): Promise<WebhookServer> {
    const { service, clock = systemClock, random = systemRandom, log = silentLogger } = options;
    const client = options.client.with({ fence: options.fence ?? openFence });
    checkTogether(options.apps);
    const isGiven = service !== undefined || options.url !== undefined;
    const serverAt: ServerPlace = isGiven ? { type: "elsewhere", addresses: [] } : await findServer(client);
    const address = webhookAddress(client.server, options, serverAt);
    if (serverAt.type === "unsure") {
      const at = serverAt.addresses.join(", ");
      log.warn(`the API server gives its address as ${at}: unless that is this machine, its webhooks need a url`);
    }
    // The pods behind a Service share one certificate: a server that trusts one pod trusts all.
    const store = service && new CertificateSecret(client, service.namespace, `${service.name}-webhook-certificate`);
    const { hosts } = address;
    const certificate = await ServingCertificate.open({
      hosts,
      clock,
      random,
      ...(store ? { store, trusted: () => trustedAuthorities(client, options.apps) } : {}),
      onRenewed: (isNewAuthority) => void server.#renewed(isNewAuthority),
      onLooked: () => void server.#installer?.putBack(),
      onError: (error) => log.error("could not check the webhook certificate", { error }),
    });
    const server = new WebhookServer(options, address, certificate);
    try {
      await server.#listen();
      await server.#installer?.install(server.#apps);
      for (const app of server.#apps) server.#installed?.follow(app);
      if (certificate.shownAtStart(server.#trustMs) !== certificate.current) void server.#renewed(true);
      return server;
    } catch (error) {
      await server[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** The port that it listens on. */
  get port(): number {
    return (this.#server.address() as AddressInfo | null)?.port ?? 0;
  }

  /** The CAs of its certificate, base64 of PEM. */
  get caBundle(): string {
    return this.#certificate.caBundle;
  }

  /**
   * Serves one more app, and installs it. Rejects with the API server's error, `WEBHOOK_TAKEN`, or `APP_INVALID` if
   * another app has its name or one of its routes. The app is then neither served nor installed.
   */
  async add(app: App): Promise<void> {
    checkTogether([...this.#apps, app]);
    this.#apps.add(app);
    try {
      await this.#installer?.install([app]);
    } catch (error) {
      this.#apps.delete(app);
      throw error;
    }
    this.#installed?.follow(app);
    for (const retired of this.#retired) if (retired.name === app.name) this.#retired.delete(retired);
  }

  /**
   * Stops serving an app, except for the conversion of its kinds, which stay with their objects. First uninstalls its
   * webhooks, so that no write waits for them. If that fails, rejects and continues to serve the app.
   */
  async remove(app: App): Promise<void> {
    if (!this.#apps.has(app)) return;
    this.#installed?.leave(app);
    try {
      await this.#installer?.uninstall(app);
    } catch (error) {
      this.#installed?.follow(app);
      throw error;
    }
    this.#apps.delete(app);
    if (app.converters.length > 0) this.#retired.add(app);
  }

  /** Stops answering at once, like a process that dies: the installation stays. */
  abandon(): void {
    this.#end();
    void this.#installed?.[Symbol.asyncDispose]();
    this.#server.close();
    this.#server.closeAllConnections();
  }

  /** Stops. If only this process served the webhooks, uninstalls them. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#end();
    await this.#installed?.[Symbol.asyncDispose]();
    await this.#installer?.settled();
    if (this.#address.isLocal && this.#server.listening) await this.#uninstallAll();
    if (!this.#server.listening) return;
    const closed = new Promise((resolve) => this.#server.close(resolve));
    await this.#answered();
    // API servers keep spare connections, some never used: Node does not count these as idle.
    this.#server.closeAllConnections();
    await closed;
  }

  #end(): void {
    this.#certificate[Symbol.dispose]();
    this.#stopping.abort();
  }

  /** Waits for requests in flight, within the grace period. */
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
      const onError = (cause: NodeJS.ErrnoException): void => {
        const message = `cannot listen on ${host}:${port}: ${cause.code ?? cause.message}`;
        reject(new SetpointError("ADDRESS_UNAVAILABLE", message, { cause }));
      };
      this.#server.once("error", onError);
      this.#server.listen(port, host, () => {
        this.#server.off("error", onError);
        resolve();
      });
    });
    this.#server.on("error", (error) => this.#log.error(`the webhook server: ${messageOf(error)}`, { error }));
    this.#log.info("serving webhooks", { host, port: this.port });
  }

  async #uninstallAll(): Promise<void> {
    for (const app of this.#apps) {
      await this.#installer
        ?.uninstall(app)
        .catch((error: unknown) => this.#log.warn("could not uninstall webhooks", { app: app.name, error }));
    }
    for (const app of [...this.#apps, ...this.#retired]) {
      await this.#installer
        ?.release(app)
        .catch((error: unknown) => this.#log.warn("could not remove the conversion webhook", { app: app.name, error }));
    }
  }

  /** Presents the new certificate; that of a new CA only once callers trust the CA. Never rejects. */
  async #renewed(isNewAuthority: boolean): Promise<void> {
    if (isNewAuthority) await this.#announce();
    if (this.#stopping.signal.aborted) return;
    this.#server.setSecureContext(secureContext(this.#certificate.current));
    this.#log.info("renewed the webhook certificate", { isNewAuthority });
  }

  get #trustMs(): number {
    return this.#installer ? TRUST_MS : TELL_MS;
  }

  /** Installs the CAs, and retries until it succeeds. Until then the server presents the previous certificate. */
  async #announce(): Promise<void> {
    const { clock = systemClock } = this.#options;
    const { signal } = this.#stopping;
    if (!this.#installer)
      this.#log.warn(
        "the webhooks have a new CA: whoever installed the webhooks must put it into their configuration within a day",
      );
    for (let isInstalled = false; !isInstalled && !signal.aborted; ) {
      try {
        await this.#installer?.install(this.#apps);
        await this.#installer?.installConversion(this.#retired);
        isInstalled = true;
      } catch (error) {
        this.#log.error("could not install the new CA", { error });
      }
      await clock.sleep(isInstalled ? this.#trustMs : INSTALL_RETRY_MS, signal).catch(() => {});
    }
  }

  #onRequest(request: IncomingMessage, response: ServerResponse): void {
    const serving = this.#serve(request, response)
      .catch((error: unknown) => {
        this.#log.error(`${request.method} ${request.url} failed`, { error });
        response.destroy();
      })
      .finally(() => this.#inFlight.delete(serving));
    this.#inFlight.add(serving);
  }

  async #serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const { clock = systemClock, onAsked, onAnswered } = this.#options;
    const startedMs = clock.monotonic();
    const webhook = this.#nameOf(incoming.url ?? "/");
    onAsked?.(webhook);
    const gone = new AbortController();
    response.once("close", () => gone.abort());
    const onUnsendable = (error: unknown): void =>
      this.#log.error(`cannot send the response to ${incoming.method} ${incoming.url}: ${messageOf(error)}`, {
        error,
      });
    const answer = await this.#answer(incoming, gone.signal).catch(errorAnswer);
    const over = new Promise<void>((resolve) => response.once("close", resolve).once("finish", resolve));
    const status = response.destroyed ? answer.status : sendAnswer(response, answer, onUnsendable);
    onAnswered?.({ webhook, status, durationMs: clock.monotonic() - startedMs });
    if (!response.destroyed) await over;
  }

  /** The path of a request without the callers' prefix. Does not normalize slashes and dots. */
  #pathOf(path: string): string {
    const { prefix } = this.#address;
    return prefix && path.startsWith(`${prefix}/`) ? path.slice(prefix.length) : path;
  }

  #nameOf(url: string): string {
    const path = this.#pathOf(url.split("?")[0]!);
    if (path.startsWith("/apis/")) return "routes";
    const webhook = this.#webhookAt(path);
    return webhook ? webhookPath(webhook.app, webhook.review) : "unknown";
  }

  #webhookAt(
    path: string,
  ): { readonly app: App; readonly review: Review; readonly policy: string | undefined } | undefined {
    const [, review, policy] = /^\/[^/]*\/(validate|mutate|convert)(?:\/(\w+))?$/.exec(path) ?? [];
    if (review === undefined || (review === "convert" && policy !== undefined)) return undefined;
    const apps = review === "convert" ? [...this.#apps, ...this.#retired] : [...this.#apps];
    const app = apps.find((each) => path.startsWith(`/${each.name}/`));
    return app && { app, review: review as Review, policy };
  }

  async #answer(incoming: IncomingMessage, signal: AbortSignal): Promise<WebAnswer> {
    const body = await readBody(incoming, MAX_BODY_BYTES);
    if (!body) return textAnswer(413, `the body is larger than ${MAX_BODY_BYTES} bytes`);
    const url = new URL(incoming.url ?? "/", "https://webhooks");
    const { method = "GET", headers } = incoming;
    const path = this.#pathOf(url.pathname);
    const onThrown = (error: unknown): void => this.#onThrown(`${method} ${path}`, error);
    const request: WebRequest = { method, path, query: url.searchParams, headers, body, signal, onThrown };
    const webhook = this.#webhookAt(path);
    if (webhook) {
      const { app, review, policy = "" } = webhook;
      if (review === "validate") return validateReview(app.validators, request, policy);
      if (review === "mutate") return mutateReview(app.mutators, request, policy);
      return convertReview(app.converters, request);
    }
    if (!request.path.startsWith("/apis/")) return textAnswer(404, "not found");
    const routes = [...this.#apps].flatMap((app) => app.routes);
    const isFree = this.#address.isPrivate && isLoopbackCaller(incoming.socket.remoteAddress);
    const refusal = isFree ? undefined : await this.#guard(routes, request);
    return refusal ?? routeAnswer(routes, request);
  }

  /** A refusal is a handler's normal response; log everything else, even if it names a status. */
  #onThrown(request: string, error: unknown): void {
    this.#options.onThrown?.(error);
    if (error instanceof RefusedError) return;
    const level = isRefusal(error) ? "warn" : "error";
    this.#log[level](`${request} failed: ${messageOf(error)}`, { error });
  }
}

async function trustedAuthorities(client: Client, apps: readonly App[]): Promise<string> {
  return (await Promise.all(apps.map((app) => installedAuthorities(client, app)))).join("\n");
}

/** Throws `APP_INVALID` if two apps would handle the same requests. */
function checkTogether(apps: readonly App[]): void {
  const routes = new Map<string, App>();
  for (const [at, app] of apps.entries()) {
    const problems = apps.slice(0, at).some(({ name }) => name === app.name)
      ? ["an app of this name exists already"]
      : [];
    for (const id of app.routes.map(routeId)) {
      const other = routes.get(id);
      if (other) problems.push(`the app ${other.name} has the route ${id} already`);
      routes.set(id, app);
    }
    if (problems.length > 0) throw new SetpointError("APP_INVALID", `app ${app.name}: ${problems.join("; ")}`);
  }
}
