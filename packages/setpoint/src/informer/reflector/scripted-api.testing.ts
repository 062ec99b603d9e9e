import { Buffer } from "node:buffer";
import { setMaxListeners } from "node:events";
import type { RawRequest } from "../../client/client.js";
import { BodyQueue } from "../../client/transport/body-queue.js";
import type { TransportResponse } from "../../client/transport/transport.js";
import { transportError } from "../../client/transport/transport-error.js";
import type { Kind } from "../../kinds/kind.js";
import type { JsonObject, KubeObject } from "../../kinds/object.js";

/** One request as a script sees it. */
export interface Call {
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly accept: string;
  readonly isWatch: boolean;
}

export type Script = (call: Call, count: number) => TransportResponse | Promise<TransportResponse>;

/** An API server that answers by a test's script, and records its requests. */
export class ScriptedApi {
  readonly calls: Call[] = [];
  script: Script;

  constructor(script: Script) {
    this.script = script;
  }

  async raw(request: RawRequest): Promise<TransportResponse> {
    const url = new URL(request.path, "http://server");
    const query = Object.fromEntries(url.searchParams);
    const accept = String(request.headers?.accept ?? "");
    const call = { path: url.pathname, query, accept, isWatch: query.watch === "true" };
    this.calls.push(call);
    const { signal } = request;
    const answered = Promise.resolve(this.script(call, this.calls.length));
    const response = await Promise.race([answered, abortOf(signal)]);
    if (response instanceof ScriptedStream) {
      signal?.addEventListener("abort", () => response.abort(signal), { once: true });
    }
    return response;
  }

  get lists(): readonly Call[] {
    return this.calls.filter((call) => !call.isWatch);
  }

  get watches(): readonly Call[] {
    return this.calls.filter((call) => call.isWatch);
  }
}

function abortOf(signal: AbortSignal | undefined): Promise<never> {
  if (signal) setMaxListeners(0, signal);
  return new Promise((_, reject) => {
    const abort = (): void => reject(transportError("ABORTED", "the request was aborted", signal?.reason));
    if (signal?.aborted) abort();
    else signal?.addEventListener("abort", abort, { once: true });
  });
}

export interface Widget extends KubeObject {
  readonly apiVersion: "example.com/v1";
  readonly kind: "Widget";
  readonly spec?: JsonObject;
}

export const Widget: Kind<Widget> = {
  group: "example.com",
  version: "v1",
  kind: "Widget",
  apiVersion: "example.com/v1",
  plural: "widgets",
  scope: "Namespaced",
};

/** A widget as a server would send it. */
export function widget(name: string, resourceVersion: number | string, more: WidgetFields = {}): Widget {
  const { spec = {}, uid = `uid-of-${name}`, namespace = "default", labels } = more;
  return {
    apiVersion: "example.com/v1",
    kind: "Widget",
    metadata: {
      creationTimestamp: "2026-01-01T00:00:00Z",
      ...(labels ? { labels } : {}),
      name,
      namespace,
      resourceVersion: String(resourceVersion),
      uid,
    },
    spec,
  };
}

export interface WidgetFields {
  readonly spec?: JsonObject;
  readonly uid?: string;
  readonly namespace?: string;
  readonly labels?: Readonly<Record<string, string>>;
}

export function json(body: unknown, status = 200): TransportResponse {
  const queue = new BodyQueue({ pause() {}, resume() {}, cancel() {} });
  queue.push(Buffer.from(JSON.stringify(body)));
  queue.end();
  return { status, headers: { "content-type": "application/json" }, body: queue };
}

export function listOf(
  resourceVersion: number | string,
  items: readonly Widget[],
  continueToken?: string,
): TransportResponse {
  const metadata = { resourceVersion: String(resourceVersion), ...(continueToken ? { continue: continueToken } : {}) };
  return json({ apiVersion: "example.com/v1", kind: "WidgetList", metadata, items });
}

export function statusBody(code: number, reason: string, message = reason, details: JsonObject = {}): JsonObject {
  return { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", message, reason, details, code };
}

export function failure(code: number, reason: string, message?: string, details?: JsonObject): TransportResponse {
  return json(statusBody(code, reason, message, details), code);
}

/** A watch whose events the test sends. */
export class ScriptedStream implements TransportResponse {
  readonly status = 200;
  readonly headers = { "content-type": "application/json" };
  readonly body: BodyQueue;
  isCancelled = false;

  constructor() {
    this.body = new BodyQueue({ pause() {}, resume() {}, cancel: () => (this.isCancelled = true) });
  }

  send(type: "ADDED" | "MODIFIED" | "DELETED" | "ERROR", ...objects: readonly unknown[]): this {
    for (const object of objects) this.line(JSON.stringify({ type, object }));
    return this;
  }

  bookmark(resourceVersion: number | string, end?: "true" | "false"): this {
    const annotations = end ? { annotations: { "k8s.io/initial-events-end": end } } : {};
    const metadata = { resourceVersion: String(resourceVersion), creationTimestamp: null, ...annotations };
    return this.line(
      JSON.stringify({ type: "BOOKMARK", object: { apiVersion: "example.com/v1", kind: "Widget", metadata } }),
    );
  }

  line(text: string): this {
    this.body.push(Buffer.from(`${text}\n`));
    return this;
  }

  bytes(text: string): this {
    this.body.push(Buffer.from(text));
    return this;
  }

  close(): this {
    this.body.end();
    return this;
  }

  abort(signal: AbortSignal): void {
    this.isCancelled = true;
    this.body.abort(transportError("ABORTED", "the request was aborted", signal.reason));
  }

  break(): this {
    this.body.fail(transportError("TRANSPORT_BROKEN", "the connection was reset"));
    return this;
  }
}
