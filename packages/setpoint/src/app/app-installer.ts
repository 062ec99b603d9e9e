import type { Client } from "../client/client.js";
import type { Clock } from "../clock/clock.js";
import { kindId } from "../kinds/kind.js";
import type { Fence } from "../loop/fence.js";
import type { Logger } from "../loop/logger.js";
import { messageOf } from "../loop/outcome.js";
import type { App } from "./app.js";
import type { WebhookAddress } from "./webhooks/webhook-address.js";
import {
  type InstallOptions,
  installApp,
  installConversion,
  installWebhooks,
  releaseConversion,
  uninstallWebhooks,
} from "./webhooks/webhook-configuration.js";

export interface AppInstallerOptions {
  readonly client: Client;
  /** Once it is closed, nothing is installed, and nothing is uninstalled that leads to other processes as well. */
  readonly fence: Fence;
  readonly clock: Clock;
  readonly log: Logger;
  readonly address: WebhookAddress;
  readonly port: () => number;
  /** The CA that the API server must trust; undefined where it trusts the certificate anyway. */
  readonly caBundle: () => string | undefined;
  /** The apps whose webhooks this installer keeps installed. */
  readonly apps: () => Iterable<App>;
}

/** Installs apps on the API server, one after another: two installations at once would undo each other's work. */
export class AppInstaller {
  readonly #options: AppInstallerOptions;
  readonly #client: Client;
  #turn: Promise<void> = Promise.resolve();

  constructor(options: AppInstallerOptions) {
    this.#options = options;
    this.#client = options.client.with({ fence: options.fence });
  }

  install(apps: Iterable<App>): Promise<void> {
    return this.#inTurn(async (client, options) => {
      for (const app of apps) await installApp(client, app, options);
    });
  }

  /** Installs the conversion of apps that this process no longer serves otherwise. */
  installConversion(apps: Iterable<App>): Promise<void> {
    return this.#inTurn(async (client, options) => {
      for (const app of apps) await installConversion(client, app, options);
    });
  }

  uninstall(app: App): Promise<void> {
    const { client: open, address } = this.#options;
    // A webhook that leads only to this process would block every write once the process is gone.
    return this.#inTurn((client, options) => uninstallWebhooks(address.isLocal ? open : client, app, options));
  }

  /** Releases the conversion of an app, so that another process may take it over. */
  release(app: App): Promise<void> {
    return this.#inTurn((_, options) => releaseConversion(this.#options.client, app, options));
  }

  /** Resolves when nothing is being installed. */
  async settled(): Promise<void> {
    await this.#turn.catch(() => {});
  }

  /** Restores the webhooks that others have changed or deleted. Never rejects. */
  async putBack(): Promise<void> {
    const { apps, log } = this.#options;
    try {
      await this.#inTurn(async (client, options) => {
        for (const app of apps()) await installWebhooks(client, app, options);
      });
    } catch (error) {
      log.error(`could not reconcile the webhooks: ${messageOf(error)}`, { error });
    }
  }

  #inTurn(work: (client: Client, options: InstallOptions) => Promise<void>): Promise<void> {
    const { clock, log, address, port, caBundle } = this.#options;
    const turn = this.#turn
      .catch(() => {})
      .then(() => {
        const authorities = caBundle();
        return work(this.#client, {
          target: (path) => address.target(path, port()),
          ...(authorities === undefined ? {} : { caBundle: authorities }),
          owner: address.owner,
          clock,
          onForbidden: (kind, error) => log.warn(`may not install the kind ${kindId(kind)}`, { error }),
        });
      });
    this.#turn = turn;
    return turn;
  }
}
