import { PipelinesError, type PipelinesErrorCode, pipelinesErrors } from "../errors.js";
import { isKept, readServerFile } from "../runtime/folder-lock.js";
import type { StateFolder } from "../runtime/state-folder.js";

/** A client of the process that holds a folder's lock. */
export class Keeper {
  readonly pid: number;
  readonly #url: string;
  readonly #token: string;

  private constructor(pid: number, url: string, token: string) {
    this.pid = pid;
    this.#url = url;
    this.#token = token;
  }

  /** Undefined if no process holds the lock, or if it does not serve HTTP yet. */
  static of(folder: StateFolder): Keeper | undefined {
    if (!isKept(folder)) return undefined;
    const server = readServerFile(folder);
    if (server?.url === undefined || server.token === undefined) return undefined;
    return new Keeper(server.pid, server.url, server.token);
  }

  get(path: string, signal: AbortSignal): Promise<unknown> {
    return this.#ask(path, { signal });
  }

  post(path: string, body: unknown, signal: AbortSignal): Promise<unknown> {
    return this.#ask(path, { signal, method: "POST", body: JSON.stringify(body) });
  }

  async #ask(path: string, init: RequestInit): Promise<unknown> {
    let response: Response;
    try {
      response = await fetch(`${this.#url}/api/v1/${path}`, {
        ...init,
        headers: { authorization: `Bearer ${this.#token}`, "content-type": "application/json" },
      });
    } catch (cause) {
      init.signal?.throwIfAborted();
      throw new PipelinesError("PIPELINES_UNANSWERED", `the process with PID ${this.pid} does not answer`, { cause });
    }
    const body = (await response.json()) as { readonly error?: { readonly code?: string; readonly message: string } };
    if (response.ok) return body;
    const { code, message = `it answered ${response.status}` } = body.error ?? { message: undefined };
    throw new PipelinesError(isCode(code) ? code : "PIPELINES_UNANSWERED", message);
  }
}

function isCode(code: string | undefined): code is PipelinesErrorCode {
  return code !== undefined && code in pipelinesErrors;
}
