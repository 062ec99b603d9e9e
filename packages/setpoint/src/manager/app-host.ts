import { type App, isServed } from "../app/app.js";
import type { InstallationWatch } from "../app/installation-watch.js";
import { serveWebhooks } from "../app/webhooks/serve-webhooks.js";
import type { WebhookServer, WebhookServerOptions } from "../app/webhooks/webhook-server.js";
import { isForbidden } from "../client/api-error.js";
import { systemRandom } from "../clock/random.js";
import { systemClock } from "../clock/system-clock.js";
import { type FinalizerEditOptions, sweepFinalizers } from "../controller/run/finalizer.js";
import { type Kind, kindId } from "../kinds/kind.js";
import { openFence } from "../loop/fence.js";
import { type Logger, silentLogger } from "../loop/logger.js";

/** Where API servers reach the webhooks of apps, and who installs what apps need. */
export type AppHosting = Partial<Omit<WebhookServerOptions, "apps" | "client" | "fence">>;

const MAY_NOT_INSTALL =
  "may not install the webhooks of apps: grant what `setpoint rbac` prints, or install them yourself and set webhooks.install: false";

/** The part of apps that API servers and users call: kinds, webhooks and routes, on one server for all apps. */
export class AppHost implements AsyncDisposable {
  readonly #options: Omit<WebhookServerOptions, "apps">;
  readonly #log: Logger;
  readonly #apps = new Set<App>();
  #server: WebhookServer | undefined;
  /** Watches apps that have no server. */
  #installed: InstallationWatch | undefined;
  #hasStarted = false;
  #hasEnded = false;
  /** One after another: the first served app starts the server, and later ones are added to it. */
  #turn: Promise<unknown> = Promise.resolve();

  constructor(options: Omit<WebhookServerOptions, "apps">) {
    this.#options = options;
    this.#log = options.log ?? silentLogger;
  }

  get apps(): readonly App[] {
    return [...this.#apps];
  }

  /** The port of the webhooks, once they are served. */
  get port(): number | undefined {
    return this.#server?.port;
  }

  get caBundle(): string | undefined {
    return this.#server?.caBundle;
  }

  /** Rejects like {@link serveWebhooks}; the apps are then not served. */
  async start(): Promise<void> {
    this.#hasStarted = true;
    await this.#host(this.apps);
  }

  /** Installs and serves the app at once if the host has started. Throws if the name is taken, or the host has ended. */
  async add(app: App): Promise<void> {
    if (this.apps.some(({ name }) => name === app.name))
      throw new TypeError(`the manager has an app ${app.name} already`);
    this.#apps.add(app);
    if (!this.#hasStarted) return;
    try {
      await this.#host([app]);
    } catch (error) {
      this.#apps.delete(app);
      throw error;
    }
  }

  /**
   * Uninstalls its webhooks. Its kinds and objects stay, and are still converted. If the webhooks cannot be
   * uninstalled, rejects and continues to serve the app.
   */
  async remove(app: App): Promise<void> {
    this.#installed?.leave(app);
    await this.#inTurn(async () => this.#server?.remove(app));
    this.#apps.delete(app);
  }

  /** Removes the finalizers of kinds that the app no longer handles from their objects. */
  async sweep({ name, givenUp }: App, options: FinalizerEditOptions): Promise<void> {
    const client = this.#options.client.with({ fence: options.fence ?? openFence });
    for (const { kind, finalizer } of givenUp) {
      const swept = await sweepFinalizers(client, kind, finalizer, options);
      if (swept.length > 0) this.#log.info("removed a finalizer", { app: name, finalizer, objects: swept.length });
    }
  }

  /** Stops answering at once; see {@link WebhookServer.abandon}. */
  abandon(): void {
    void this.#installed?.[Symbol.asyncDispose]();
    this.#server?.abandon();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#hasEnded = true;
    await this.#turn;
    await this.#installed?.[Symbol.asyncDispose]();
    await this.#server?.[Symbol.asyncDispose]();
  }

  #inTurn(work: () => Promise<void>): Promise<void> {
    const turn = this.#turn.then(work);
    this.#turn = turn.catch(() => {});
    return turn;
  }

  #host(apps: readonly App[]): Promise<void> {
    return this.#inTurn(() => this.#hostNow(apps));
  }

  async #hostNow(apps: readonly App[]): Promise<void> {
    if (this.#hasEnded) throw new TypeError("the manager has stopped: it serves no more apps");
    for (const app of apps) if (!isServed(app)) await this.#installKinds(app);
    const served = apps.filter(isServed);
    if (served.length === 0) return;
    try {
      if (this.#server) for (const app of served) await this.#server.add(app);
      else this.#server = await serveWebhooks({ ...this.#options, apps: served });
    } catch (error) {
      if (isForbidden(error)) this.#log.error(MAY_NOT_INSTALL, { apps: served.map(({ name }) => name) });
      throw error;
    }
  }

  /** An account that may not install kinds may still use them: the informers wait until they are installed. */
  async #installKinds(app: App): Promise<void> {
    const { client, clock = systemClock, random = systemRandom, install = true, fence = openFence } = this.#options;
    if (!install || app.kinds.length === 0) return;
    // Loaded on first use: most processes install nothing.
    const { installKinds } = await import("../app/webhooks/webhook-configuration.js");
    const onForbidden = (kind: Kind, error: unknown): void =>
      this.#log.warn(`may not install the kind ${kindId(kind)}`, { app: app.name, error });
    const putBack = (each: App): Promise<void> => installKinds(client.with({ fence }), each, { clock, onForbidden });
    await putBack(app);
    const { InstallationWatch: Watch } = await import("../app/installation-watch.js");
    this.#installed ??= new Watch({ client, clock, random, log: this.#log, putBack });
    this.#installed.follow(app);
  }
}
