import type { Client } from "../../client/client.js";
import { drain, readJson } from "../../client/transport/body.js";
import { withSilenceLimit } from "../../client/transport/silence.js";
import type { Clock } from "../../clock/clock.js";
import type { Random } from "../../clock/random.js";
import type { Kind } from "../../kinds/kind.js";
import { WatchBackoff } from "./backoff.js";

interface KindWatchContext {
  readonly client: Pick<Client, "raw">;
  readonly clock: Clock;
  readonly random: Random;
  readonly kind: Kind;
}

const SILENCE_MS = 30_000;

interface GroupList {
  readonly groups?: readonly { readonly name?: string; readonly versions?: readonly { readonly version?: string }[] }[];
}

interface ResourceList {
  readonly resources?: readonly { readonly name?: string }[];
}

/**
 * Asks discovery whether a kind is served. A 404 alone proves nothing: proxies send them too, and believing one would
 * delete all objects of the kind.
 */
export class KindWatch {
  readonly #context: KindWatchContext;

  constructor(context: KindWatchContext) {
    this.#context = context;
  }

  /** Undefined if the server does not say. */
  async isServed(signal: AbortSignal): Promise<boolean | undefined> {
    const { group, version, plural } = this.#context.kind;
    if (group !== "") {
      const known = (await this.#read("/apis", signal)) as GroupList | undefined;
      if (!known?.groups) return undefined;
      const versions = known.groups.find((one) => one.name === group)?.versions ?? [];
      if (!versions.some((one) => one.version === version)) return false;
    }
    const path = group === "" ? `/api/${version}` : `/apis/${group}/${version}`;
    const list = (await this.#read(path, signal)) as ResourceList | undefined;
    return list?.resources?.some((resource) => resource.name === plural);
  }

  /** Resolves when the kind is served; asks less and less often. */
  async untilServed(signal: AbortSignal): Promise<void> {
    const { clock, random } = this.#context;
    const backoff = new WatchBackoff(random);
    do await clock.sleep(backoff.next(clock.monotonic()), signal);
    while (!(await this.isServed(signal)));
  }

  /** The document at the path; undefined if it is unreadable. */
  async #read(path: string, signal: AbortSignal): Promise<unknown> {
    const request = { method: "GET" as const, path };
    try {
      const { client, clock } = this.#context;
      const answer = await client.raw({ ...request, headers: { accept: "application/json" }, signal, retry: false });
      const response = { ...answer, body: withSilenceLimit(answer.body, clock, SILENCE_MS) };
      if (response.status === 200) return await readJson(request, response);
      await drain(response);
      return undefined;
    } catch (error) {
      if (signal.aborted) throw error;
      return undefined;
    }
  }
}
