import { setMaxListeners } from "node:events";
import type { Socket } from "node:net";
import type { NodeResponse } from "../websocket/response-writer.js";

/** An HTTP/1.1 request from either parser. Only its connection matters. */
export interface Call {
  readonly socket: Socket;
}

/**
 * Signals that abort when a caller leaves or the server stops. All requests of an HTTP/1.1 connection share one, since
 * creating a signal costs as much as parsing a request. Each HTTP/2 stream has its own.
 */
export class CallerSignals {
  readonly #connections = new WeakMap<object, AbortController>();
  /** Controllers that are not aborted yet. */
  readonly #live = new Set<AbortController>();

  /** Aborts when the HTTP/2 stream ends. */
  ofStream(response: NodeResponse): AbortSignal {
    return this.#until(response).signal;
  }

  /** Aborts when the HTTP/1.1 connection ends. */
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
    // One caller may have many listeners: a deletecollection, or parallel webhook calls.
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
