import type { HealthCheck } from "../../app/health-check.js";
import type { Clock } from "../../clock/clock.js";
import type { Logger } from "../../loop/logger.js";
import { messageOf } from "../../loop/outcome.js";
import type { EndpointAnswer } from "./endpoint-server.js";

/** How long a check may take: one that hangs must not block the probes. */
const CHECK_MS = 5_000;

export interface HealthOptions {
  readonly clock: Clock;
  readonly log: Logger;
  /** Masks secrets in a line: everybody can read these lines. */
  readonly mask: (text: string) => string;
}

/** Runs checks, and answers like Kubernetes' own health endpoints. */
export class HealthChecks {
  readonly #options: HealthOptions;
  /** Pending checks; they run again only after they have answered. */
  readonly #pending = new WeakMap<HealthCheck, Promise<string | undefined>>();

  constructor(options: HealthOptions) {
    this.#options = options;
  }

  /** Notes are shown after the checks, and do not change the result. */
  async answer(checks: readonly HealthCheck[], notes: readonly string[] = []): Promise<EndpointAnswer> {
    const results = await Promise.all(
      checks.map(async (check) => ({ name: check.name, trouble: await this.#troubleOf(check) })),
    );
    const isWell = results.every(({ trouble }) => trouble === undefined);
    const lines = results.map(({ name, trouble }) =>
      trouble === undefined ? `[+]${name} ok` : `[-]${name} failed: ${trouble}`,
    );
    const body = [...lines, ...notes, isWell ? "ok" : "not ready"].map((line) => this.#options.mask(line));
    return { status: isWell ? 200 : 503, body: `${body.join("\n")}\n` };
  }

  async #troubleOf(check: HealthCheck): Promise<string | undefined> {
    const answered = new AbortController();
    const late = this.#options.clock.sleep(CHECK_MS, answered.signal).then(
      () => `no answer within ${CHECK_MS / 1_000} s`,
      () => undefined,
    );
    try {
      return await Promise.race([this.#pending.get(check) ?? this.#ask(check), late]);
    } finally {
      answered.abort();
    }
  }

  #ask(check: HealthCheck): Promise<string | undefined> {
    const asking = this.#asked(check).finally(() => this.#pending.delete(check));
    this.#pending.set(check, asking);
    return asking;
  }

  async #asked(check: HealthCheck): Promise<string | undefined> {
    try {
      return await check.check();
    } catch (error) {
      // A check's result is public; an error of a library may quote addresses and passwords.
      this.#options.log.warn(`the check ${check.name} failed: ${messageOf(error)}`, { check: check.name, error });
      return "it threw an error, which is in the log";
    }
  }
}
