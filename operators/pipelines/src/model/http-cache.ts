import { createHash } from "node:crypto";
import { createWriteStream, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { PipelinesError } from "../errors.js";

interface CacheEntry {
  readonly url: string;
  readonly etag?: string;
  readonly lastModified?: string;
}

export interface FetchRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The folder of cached responses. */
  readonly folder: string;
  readonly signal: AbortSignal;
}

/**
 * Returns the path of a file with the response of the URL. Asks the server whether the cached response is still valid,
 * and downloads it again only if it is not. An interrupted download leaves the cached file as it was.
 */
export async function fetchIntoCache({ url, headers, folder, signal }: FetchRequest): Promise<string> {
  const { pathname } = new URL(url);
  // Hash the URL: it may hold credentials, which must not be part of a file name.
  const id = createHash("sha256").update(url).digest("hex").slice(0, 24);
  const path = join(folder, `${id}-${basename(pathname).replaceAll(/[^\w.-]/g, "_")}`);
  const notes = `${path}.cache.json`;
  const kept = existsSync(path) ? readEntry(notes) : undefined;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  let response: Response;
  try {
    response = await fetch(url, {
      signal,
      headers: {
        ...headers,
        ...(kept?.etag === undefined ? {} : { "If-None-Match": kept.etag }),
        ...(kept?.lastModified === undefined ? {} : { "If-Modified-Since": kept.lastModified }),
      },
    });
  } catch (cause) {
    signal.throwIfAborted();
    throw failed(
      url,
      cause instanceof Error ? ((cause.cause as Error | undefined)?.message ?? cause.message) : String(cause),
      cause,
    );
  }
  if (response.status === 304 && kept) return path;
  if (!response.ok || !response.body) {
    await response.body?.cancel();
    throw failed(url, `the server answered ${response.status} ${response.statusText}`);
  }
  const part = `${path}.part`;
  try {
    await pipeline(Readable.fromWeb(response.body as never), createWriteStream(part, { mode: 0o600 }), { signal });
  } catch (cause) {
    rmSync(part, { force: true });
    signal.throwIfAborted();
    throw failed(url, cause instanceof Error ? cause.message : String(cause), cause);
  }
  // Remove the notes first. A file without notes is downloaded again, so a crash in between is safe.
  rmSync(notes, { force: true });
  renameSync(part, path);
  const [etag, lastModified] = [response.headers.get("etag"), response.headers.get("last-modified")];
  const entry: CacheEntry = {
    url: withoutSecrets(url),
    ...(etag ? { etag } : {}),
    ...(lastModified ? { lastModified } : {}),
  };
  writeFileSync(notes, JSON.stringify(entry), { mode: 0o600 });
  return path;
}

function readEntry(path: string): CacheEntry | undefined {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as CacheEntry;
  } catch {
    return undefined;
  }
}

function withoutSecrets(url: string): string {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`;
}

function failed(url: string, why: string, cause?: unknown): PipelinesError {
  return new PipelinesError("PIPELINES_INPUT_FAILED", `${withoutSecrets(url)}: ${why}`, { cause });
}
