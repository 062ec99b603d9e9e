import type { Client } from "../client/client.js";
import type { Clock } from "../clock/clock.js";
import type { Random } from "../clock/random.js";
import { isSetpointError } from "../errors/error.js";
import type { InformerShare } from "../informer/informers.js";
import { Informers } from "../informer/informers.js";
import {
  MutatingWebhookConfiguration,
  ValidatingWebhookConfiguration,
} from "../kinds/builtin/admissionregistration.k8s.io/v1.js";
import { CustomResourceDefinition } from "../kinds/builtin/apiextensions.k8s.io/v1.js";
import { type Kind, kindId } from "../kinds/kind.js";
import type { Logger } from "../loop/logger.js";
import { messageOf } from "../loop/outcome.js";
import type { App } from "./app.js";

/** The pause after a failed attempt to restore a deleted object. */
const RETRY_MS = 5_000;

export interface InstallationWatchOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Installs the app again. */
  readonly putBack: (app: App) => Promise<void>;
}

/**
 * Watches the objects that apps have installed, and restores a deleted one at once. A change waits for the hourly
 * check: it may come from a newer version of the app, which takes over from this process.
 */
export class InstallationWatch implements AsyncDisposable {
  readonly #options: InstallationWatchOptions;
  readonly #informers: Informers;
  readonly #followed = new Map<App, AbortController>();

  constructor(options: InstallationWatchOptions) {
    this.#options = options;
    const { client, clock, random } = options;
    this.#informers = new Informers(client, { clock, random });
  }

  /** Call it after the installation of the app. */
  follow(app: App): void {
    if (this.#followed.has(app)) return;
    const leaving = new AbortController();
    this.#followed.set(app, leaving);
    const keeper = new Keeper(app, this.#options, leaving.signal);
    for (const [kind, name] of installedBy(app)) {
      const share = this.#informers.for(kind, { fieldSelector: `metadata.name=${name}` }) as InformerShare;
      share.addHandler((event) => {
        if (event.type === "delete") keeper.onGone(`${kindId(kind)} ${name}`);
      });
      // The object may have been deleted before the watch began.
      void share.synced(leaving.signal).then(
        () => share.has(name) || keeper.onGone(`${kindId(kind)} ${name}`),
        () => {},
      );
      leaving.signal.addEventListener("abort", () => share[Symbol.dispose](), { once: true });
    }
  }

  /** Call it before the app is uninstalled. */
  leave(app: App): void {
    this.#followed.get(app)?.abort();
    this.#followed.delete(app);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const app of [...this.#followed.keys()]) this.leave(app);
    await this.#informers[Symbol.asyncDispose]();
  }
}

/** Restores one app, once for all deletions that happened meanwhile. */
class Keeper {
  readonly #app: App;
  readonly #options: InstallationWatchOptions;
  readonly #signal: AbortSignal;
  #isAtWork = false;
  #isAskedAgain = false;

  constructor(app: App, options: InstallationWatchOptions, signal: AbortSignal) {
    this.#app = app;
    this.#options = options;
    this.#signal = signal;
  }

  onGone(what: string): void {
    if (this.#signal.aborted) return;
    this.#options.log.warn(`${what} is gone; creating it again`, { app: this.#app.name });
    this.#isAskedAgain = true;
    if (!this.#isAtWork) void this.#work();
  }

  async #work(): Promise<void> {
    const { clock, log, putBack } = this.#options;
    this.#isAtWork = true;
    while (this.#isAskedAgain && !this.#signal.aborted) {
      this.#isAskedAgain = false;
      try {
        await putBack(this.#app);
      } catch (error) {
        if (this.#signal.aborted) break;
        log.error(`app ${this.#app.name} could not be restored: ${messageOf(error)}`, { error });
        // Another owner has it now; the hourly check tries again.
        if (isSetpointError(error, "WEBHOOK_TAKEN")) break;
        this.#isAskedAgain = true;
        await clock.sleep(RETRY_MS, this.#signal).catch(() => {});
      }
    }
    this.#isAtWork = false;
  }
}

function installedBy(app: App): readonly (readonly [kind: Kind, name: string])[] {
  return [
    ...app.kinds.map(({ plural, group }) => [CustomResourceDefinition as Kind, `${plural}.${group}`] as const),
    ...(app.validators.length > 0 ? [[ValidatingWebhookConfiguration as Kind, app.name] as const] : []),
    ...(app.mutators.length > 0 ? [[MutatingWebhookConfiguration as Kind, app.name] as const] : []),
  ];
}
