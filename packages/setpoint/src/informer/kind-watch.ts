import { apiErrorOf } from "../client/api-error.js";
import { drain, readJson } from "../client/body.js";
import type { Client } from "../client/client.js";
import type { Clock } from "../clock/clock.js";
import type { Random } from "../clock/random.js";
import type { Kind } from "../kinds/kind.js";
import { Backoff } from "./backoff.js";
import { isNotServedHere } from "./plan.js";

interface KindWatchContext {
  readonly client: Pick<Client, "raw">;
  readonly clock: Clock;
  readonly random: Random;
  readonly kind: Kind;
}

/** Asks discovery whether a kind is served. A single 404 is not believed: what stands before a server sends them too. */
export class KindWatch {
  readonly #context: KindWatchContext;

  constructor(context: KindWatchContext) {
    this.#context = context;
  }

  /** Undefined where the server could not be asked. */
  async isServed(signal: AbortSignal): Promise<boolean | undefined> {
    const { client, kind } = this.#context;
    const path = kind.group === "" ? `/api/${kind.version}` : `/apis/${kind.group}/${kind.version}`;
    const request = { method: "GET" as const, path };
    try {
      const response = await client.raw({ ...request, headers: { accept: "application/json" }, signal, retry: false });
      if (response.status === 404) return isNotServedHere(await apiErrorOf(request, response)) ? false : undefined;
      if (response.status !== 200) {
        await drain(response);
        return undefined;
      }
      const { resources } = (await readJson(request, response)) as {
        resources?: readonly { readonly name?: string }[];
      };
      return resources?.some((resource) => resource.name === kind.plural);
    } catch (error) {
      if (signal.aborted) throw error;
      return undefined;
    }
  }

  /** Resolves when the kind is served; asks less and less often. */
  async untilServed(signal: AbortSignal): Promise<void> {
    const { clock, random } = this.#context;
    const backoff = new Backoff(random);
    do await clock.sleep(backoff.next(clock.monotonic()), signal);
    while (!(await this.isServed(signal)));
  }
}
