import { apiErrorOf } from "../../client/api-error.js";
import { apiPath, type QueryValue } from "../../client/api-path.js";
import type { Client } from "../../client/client.js";
import { nameOfRequest, type RequestSummary } from "../../client/request-summary.js";
import { retryAfterMs } from "../../client/retry.js";
import { consume } from "../../client/transport/body.js";
import { transportError } from "../../client/transport/transport-error.js";
import type { Clock } from "../../clock/clock.js";
import type { Kind } from "../../kinds/kind.js";
import type { InformerScope } from "../informer.js";
import { StallWatch } from "./stall-watch.js";

export interface ListWatchContext {
  readonly client: Pick<Client, "raw">;
  readonly clock: Clock;
  readonly kind: Kind;
  readonly scope: InformerScope;
  readonly accept: string;
  readonly partition: { readonly namespace: string | undefined };
  readonly silenceMs: number;
}

export type Query = Readonly<Record<string, QueryValue>>;

/** How long the response headers may take; the server's own limit for a list is a minute. */
const HEAD_MS = 75_000;

/** The requests of one reflector. */
export class ListWatch {
  readonly #context: ListWatchContext;

  constructor(context: ListWatchContext) {
    this.#context = context;
  }

  /** The request in error messages. */
  summary(query: Query): RequestSummary {
    const { kind, scope, partition } = this.#context;
    const { labelSelector, fieldSelector } = scope;
    const path = apiPath(kind, { namespace: partition.namespace, query: { labelSelector, fieldSelector, ...query } });
    return { method: "GET", path };
  }

  /**
   * Sends the request and reads the whole response; chunks are valid only during the call of `onChunk`. Rejects with an
   * `ApiError` for an error response, and with `TRANSPORT_TIMEOUT` if the server is silent for too long: then it has
   * aborted `attempt`.
   */
  async read(
    verb: "list" | "watch",
    request: RequestSummary,
    attempt: AbortController,
    onChunk: (chunk: Uint8Array) => void,
    onOpen: () => void = () => {},
  ): Promise<void> {
    const { client, clock, kind, accept, silenceMs } = this.#context;
    const silence = new StallWatch(clock, { limitMs: HEAD_MS }, () => attempt.abort());
    try {
      const response = await client.raw({
        method: "GET",
        path: request.path,
        headers: { accept },
        signal: attempt.signal,
        headTimeout: 0,
        retry: false,
        verb,
        kind,
      });
      silence.progress(silenceMs);
      if (response.status !== 200) throw await apiErrorOf(request, response, retryAfterMs(response, clock.now()));
      onOpen();
      await consume(response.body, (chunk) => {
        silence.progress();
        onChunk(chunk);
      });
    } catch (error) {
      if (!silence.isStalled) throw error;
      throw transportError("TRANSPORT_TIMEOUT", `${nameOfRequest(request)}: the server stopped sending`, error);
    } finally {
      silence[Symbol.dispose]();
    }
  }
}
