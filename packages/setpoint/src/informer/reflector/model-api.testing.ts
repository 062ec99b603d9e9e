import { Buffer } from "node:buffer";
import type { Transport, TransportRequest, TransportResponse } from "../../client/transport/transport.js";
import { abortedError } from "../../client/transport/transport-error.js";
import type { Clock } from "../../clock/clock.js";
import type { Random } from "../../clock/random.js";
import { statusBody, type Widget, widget } from "./scripted-api.testing.js";

/** One change in the history of the model. */
export interface Change {
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  readonly revision: number;
  readonly key: string;
  readonly line: Buffer;
}

/** A response with a list, or with a watch from some revision. */
export type Answer = { readonly type: "list" | "watch"; readonly revision: number };

interface Snapshot {
  readonly revision: number;
  readonly items: readonly string[];
}

const BOOKMARK_MS = 60_000;

/**
 * The list and watch of one kind, as an API server with a watch cache answers them: pages of snapshots that expire,
 * streamed lists, bookmarks, and a limited history. For tests that need a million changes in a minute.
 */
export class ModelApi implements Transport {
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #historyLength: number;
  readonly live = new Map<string, { readonly uid: string; readonly revision: number; readonly text: string }>();
  /** Every change since the beginning; watches are served from the newest `historyLength` of them. */
  readonly changes: Change[] = [];
  readonly answers: Answer[] = [];
  /** Later pages of lists: whose snapshot was outdated, and whose snapshot had expired. */
  readonly laterPages = { outdated: 0, expired: 0 };
  #revision = 100;
  #snapshots = new Map<string, Snapshot>();
  #wake = new Set<() => void>();

  constructor(clock: Clock, random: Random, historyLength: number) {
    this.#clock = clock;
    this.#random = random;
    this.#historyLength = historyLength;
  }

  get revision(): number {
    return this.#revision;
  }

  write(name: string): Widget {
    const key = `default/${name}`;
    const known = this.live.get(key);
    const revision = ++this.#revision;
    const text = "é".repeat(Math.floor(this.#random.next() * 40));
    const uid = known?.uid ?? `uid-${revision}`;
    const object = widget(name, revision, { uid, spec: { revision, text } });
    this.live.set(key, { uid, revision, text: JSON.stringify(object) });
    this.#record(known ? "MODIFIED" : "ADDED", revision, key, JSON.stringify(object));
    return object;
  }

  delete(name: string): void {
    const key = `default/${name}`;
    const known = this.live.get(key);
    if (!known) return;
    const revision = ++this.#revision;
    this.live.delete(key);
    this.#record("DELETED", revision, key, JSON.stringify(widget(name, revision, { uid: known.uid })));
  }

  async request(request: TransportRequest): Promise<TransportResponse> {
    const { pathname, searchParams } = new URL(request.path, "http://model");
    if (!pathname.endsWith("/widgets")) return this.#discovery(pathname);
    if (searchParams.get("watch") === "true") return this.#watch(searchParams, request.signal);
    return this.#list(searchParams);
  }

  async [Symbol.asyncDispose](): Promise<void> {}

  #discovery(path: string): TransportResponse {
    const groups = [{ name: "example.com", versions: [{ version: "v1" }] }];
    const body = path === "/apis" ? { groups } : { resources: [{ name: "widgets" }] };
    return respond(200, [Buffer.from(JSON.stringify(body))]);
  }

  #record(type: Change["type"], revision: number, key: string, text: string): void {
    this.changes.push({ type, revision, key, line: Buffer.from(`{"type":"${type}","object":${text}}\n`) });
    for (const wake of this.#wake) wake();
  }

  get #oldest(): number {
    return this.changes[Math.max(0, this.changes.length - this.#historyLength)]?.revision ?? this.#revision;
  }

  #list(query: URLSearchParams): TransportResponse {
    const token = query.get("continue");
    const limit = Number(query.get("limit") ?? 0) || Number.POSITIVE_INFINITY;
    let snapshot: Snapshot;
    let offset = 0;
    if (token) {
      const [id, at] = token.split(":") as [string, string];
      const found = this.#snapshots.get(id);
      if (!found || found.revision < this.#oldest) {
        this.laterPages.expired++;
        return this.#fail(410, "Expired");
      }
      if (found.revision < this.#revision) this.laterPages.outdated++;
      snapshot = found;
      offset = Number(at);
    } else {
      const wanted = Number(query.get("resourceVersion") ?? 0);
      if (wanted > this.#revision) return this.#fail(504, "Timeout", "Too large resource version");
      snapshot = { revision: this.#revision, items: [...this.live.values()].map((one) => one.text) };
    }
    const items = snapshot.items.slice(offset, offset + limit);
    const end = offset + items.length;
    let next = "";
    if (end < snapshot.items.length) {
      next = `${snapshot.revision}:${end}`;
      this.#snapshots.set(String(snapshot.revision), snapshot);
    } else {
      this.answers.push({ type: "list", revision: snapshot.revision });
    }
    const metadata = JSON.stringify({
      resourceVersion: String(snapshot.revision),
      ...(next ? { continue: next } : {}),
    });
    const text = `{"apiVersion":"example.com/v1","kind":"WidgetList","metadata":${metadata},"items":[${items.join(",")}]}`;
    return respond(200, [Buffer.from(text)]);
  }

  #watch(query: URLSearchParams, signal: AbortSignal | undefined): TransportResponse {
    const isList = query.get("sendInitialEvents") === "true";
    const wanted = Number(query.get("resourceVersion") || 0);
    if (wanted > this.#revision) return this.#fail(504, "Timeout", "Too large resource version");
    if (!isList && wanted < this.#oldest - 1) return this.#fail(410, "Expired");
    if (!isList) this.answers.push({ type: "watch", revision: wanted });
    const timeoutMs = Number(query.get("timeoutSeconds") ?? 300) * 1000;
    return respond(200, this.#stream(isList, wanted, timeoutMs, signal));
  }

  async *#stream(isList: boolean, from: number, timeoutMs: number, signal?: AbortSignal): AsyncGenerator<Buffer, void> {
    const endMs = this.#clock.monotonic() + timeoutMs;
    let sent = from;
    if (isList) {
      sent = this.#revision;
      const lines = [...this.live.values()].map((one) => `{"type":"ADDED","object":${one.text}}\n`);
      for (let at = 0; at < lines.length; at += 200) yield Buffer.from(lines.slice(at, at + 200).join(""));
      yield bookmark(sent, true);
      this.answers.push({ type: "list", revision: sent });
    }
    let next = this.#indexAfter(sent);
    let bookmarkMs = this.#clock.monotonic() + BOOKMARK_MS;
    while (this.#clock.monotonic() < endMs) {
      if (next < this.changes.length) {
        const lines = this.changes.slice(next, next + 500).map((change) => change.line);
        next += lines.length;
        yield Buffer.concat(lines);
      } else if (this.#clock.monotonic() >= bookmarkMs) {
        bookmarkMs = this.#clock.monotonic() + BOOKMARK_MS;
        yield bookmark(this.#revision, false);
      } else {
        await this.#change(Math.min(bookmarkMs, endMs) - this.#clock.monotonic(), signal);
      }
    }
  }

  /** Resolves at the next change, or after the time; rejects when the request is aborted. */
  #change(withinMs: number, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const finish = (settle: () => void) => (): void => {
        this.#wake.delete(wake);
        timer[Symbol.dispose]();
        signal?.removeEventListener("abort", abort);
        settle();
      };
      const wake = finish(resolve);
      const abort = finish(() => reject(abortedError(signal!)));
      const timer = this.#clock.timer(Math.max(1, withinMs), wake);
      this.#wake.add(wake);
      if (signal?.aborted) abort();
      else signal?.addEventListener("abort", abort);
    });
  }

  #indexAfter(revision: number): number {
    let low = 0;
    let high = this.changes.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.changes[middle]!.revision <= revision) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #fail(code: number, reason: string, message?: string): TransportResponse {
    return respond(code, [Buffer.from(JSON.stringify(statusBody(code, reason, message)))]);
  }
}

function bookmark(revision: number, isEnd: boolean): Buffer {
  const annotations = isEnd ? { annotations: { "k8s.io/initial-events-end": "true" } } : {};
  const object = {
    kind: "Widget",
    apiVersion: "example.com/v1",
    metadata: { resourceVersion: String(revision), ...annotations },
  };
  return Buffer.from(`${JSON.stringify({ type: "BOOKMARK", object })}\n`);
}

function respond(status: number, body: Iterable<Buffer> | AsyncIterable<Buffer>): TransportResponse {
  async function* chunks(): AsyncGenerator<Buffer, void> {
    yield* body;
  }
  return { status, headers: { "content-type": "application/json" }, body: chunks() };
}
