import type { NodeRequest } from "./incoming-body.js";
import type { NodeResponse } from "./response-writer.js";

/**
 * Signals that are aborted when a caller goes away, or all callers must. Over HTTP/1.1 one serves all requests of a
 * connection, since making one costs as much as parsing the request; over HTTP/2 each stream has its own.
 */
export class CallerSignals {
  readonly #connections = new WeakMap<object, AbortController>();
  /** Not yet aborted. */
  readonly #live = new Set<AbortController>();

  of(request: NodeRequest, response: NodeResponse): AbortSignal {
    if ("stream" in request) return this.#until(response).signal;
    const { socket } = request;
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
    this.#live.add(controller);
    caller.once("close", () => {
      this.#live.delete(controller);
      controller.abort(CALLER_GONE);
    });
    return controller;
  }
}

const CALLER_GONE = new Error("the caller has gone");
