import { setMaxListeners } from "node:events";
import type { Socket } from "node:net";
import type { NodeResponse } from "../websocket/response-writer.js";

/** A request over HTTP/1.1, from either parser: only its connection matters. */
export interface Call {
  readonly socket: Socket;
}

/**
 * Signals that are aborted when a caller goes away, or all callers must. Over HTTP/1.1 one serves all requests of a
 * connection, since making one costs as much as parsing the request; over HTTP/2 each stream has its own.
 */
export class CallerSignals {
  readonly #connections = new WeakMap<object, AbortController>();
  /** Not yet aborted. */
  readonly #live = new Set<AbortController>();

  /** Until a stream of HTTP/2 is over. */
  ofStream(response: NodeResponse): AbortSignal {
    return this.#until(response).signal;
  }

  /** Until a connection of HTTP/1.1 is over. */
  ofConnection({ socket }: Call): AbortSignal {
    let controller = this.#connections.get(socket);
    if (!controller) this.#connections.set(socket, (controller = this.#until(socket)));
    return controller.signal;
  }

  abortAll(reason: Error): void {
    for (const controller of this.#live) controller.abort(reason);
    this.#live.clear();
  }

  #until(caller: { once(event: "close", listener: () => void): unknown }): AbortController {
    const controller = new AbortController();
    // All that is under way for the caller listens: a collection that is deleted, webhooks that are asked at once.
    setMaxListeners(0, controller.signal);
    this.#live.add(controller);
    caller.once("close", () => {
      this.#live.delete(controller);
      controller.abort(CALLER_GONE);
    });
    return controller;
  }
}

const CALLER_GONE = new Error("the caller has gone");
