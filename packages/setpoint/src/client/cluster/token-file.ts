import { readFile } from "node:fs/promises";
import type { Clock } from "../../clock/clock.js";
import { SetpointError } from "../../errors/error.js";
import { describe } from "../transport/transport-error.js";
import type { Credentials } from "./credentials.js";

/** client-go's period: a rotated token is used within a minute, long before the old one expires. */
const FRESH_MS = 60_000;

/**
 * A bearer token in a file that another process renews. Read again each minute and after a 401. While the file is
 * unreadable, the last token (or `fallback`) stays in use. Messages name `place`.
 */
export function tokenFile(path: string, place: string, clock: Clock, fallback?: string): Credentials {
  let token = fallback;
  let readAtMs: number | undefined;
  let reading: Promise<void> | undefined;
  const refresh = async (): Promise<void> => {
    let text = "";
    let cause: unknown;
    try {
      text = (await readFile(path, "utf8")).trim();
    } catch (error) {
      cause = error;
    }
    if (text) token = text;
    else if (token === undefined) {
      const why = cause === undefined ? "the file is empty" : describe(cause);
      throw new SetpointError("CREDENTIALS_FAILED", `${place}: cannot read ${path}: ${why}`, { cause });
    }
    readAtMs = clock.monotonic();
  };
  return {
    async headers() {
      if (readAtMs === undefined || clock.monotonic() - readAtMs >= FRESH_MS) {
        reading ??= refresh().finally(() => (reading = undefined));
        await reading;
      }
      return { authorization: `Bearer ${token}` };
    },
    rejected(headers) {
      if (headers.authorization === `Bearer ${token}`) readAtMs = undefined;
      return true;
    },
  };
}
