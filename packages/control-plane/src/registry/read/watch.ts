import type { Clock, Random } from "setpoint/clock";
import { expired, internalError, type Status, StatusError } from "../../api/status-error.js";
import type { ResourceDefinition } from "../../kinds/resource-definition.js";
import type { Change, Storage, StoredObject } from "../../storage/storage.js";
import { StorageExpired } from "../../storage/storage-error.js";
import { CRD_STORAGE } from "../crd/custom-resource-definition.js";
import { bytesOf, type EventType, type Presentation } from "../presentation/presentation.js";
import type { ListOptions } from "../query/list-options.js";
import { atLeast } from "./list.js";
import type { ObjectFilter } from "./object-filter.js";
import type { ServedForms, ServedObject } from "./served-form.js";
import { WatchStream } from "./watch-stream.js";

export interface WatchRequest {
  readonly definition: ResourceDefinition;
  /** Empty for all namespaces. */
  readonly namespace: string;
  readonly filter: ObjectFilter;
  readonly options: Pick<ListOptions, "resourceVersion" | "timeoutSeconds" | "allowsBookmarks" | "sendInitialEvents">;
  readonly presentation: Presentation;
  readonly signal: AbortSignal;
}

export interface WatchEnvironment {
  readonly storage: Storage;
  readonly clock: Clock;
  readonly random: Random;
  readonly forms: ServedForms;
}

const BOOKMARK_INTERVAL_MS = 60_000;
/** Sends a last bookmark before the timeout, so that the client can resume from it. */
const LAST_BOOKMARK_BEFORE_MS = 2000;
const SHORTEST_DEFAULT_TIMEOUT_MS = 1_800_000;
const INITIAL_EVENTS_END = { "k8s.io/initial-events-end": "true" };
const NEWLINE = bytesOf("\n");

/** Starts a watch. From then on, failures become ERROR events in the stream. */
export async function watch(environment: WatchEnvironment, request: WatchRequest): Promise<WatchStream> {
  const { storage, clock } = environment;
  const revision = Number(request.options.resourceVersion || "0");
  if (request.options.sendInitialEvents === true && revision > 0) {
    await atLeast(storage, clock, revision, request.signal);
  }
  return new Watch(environment, request).start(revision);
}

class Watch {
  readonly #storage: Storage;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #forms: ServedForms;
  readonly #request: WatchRequest;
  readonly #stream: WatchStream;
  readonly #lifetime: Disposable[] = [];
  /** Queue of events behind a conversion webhook; undefined while nothing is being converted. */
  #converting: Promise<void> | undefined;
  #fromRevision = 0;

  constructor({ storage, clock, random, forms }: WatchEnvironment, request: WatchRequest) {
    this.#storage = storage;
    this.#clock = clock;
    this.#random = random;
    this.#forms = forms;
    this.#request = request;
    this.#stream = new WatchStream(() => this.#dispose());
  }

  start(revision: number): WatchStream {
    const { options, definition, signal } = this.#request;
    const onAbort = (): void => this.#stream.end();
    signal.addEventListener("abort", onAbort, { once: true });
    this.#lifetime.push({ [Symbol.dispose]: () => signal.removeEventListener("abort", onAbort) });
    const isFromNow = options.sendInitialEvents === false && revision === 0;
    const startsWithState = options.sendInitialEvents ?? revision === 0;
    this.#fromRevision = startsWithState || isFromNow ? this.#storage.revision : revision;
    if (startsWithState) this.#sendState();
    try {
      const subscription = this.#storage.subscribe(definition.storageId, this.#fromRevision, {
        changes: (changes) => {
          for (const change of changes) this.#onChange(change);
        },
        backlogBytes: () => this.#stream.backlogBytes,
        ended: () => this.#inOrder(() => this.#stream.end()),
      });
      this.#lifetime.push(subscription);
      if (!definition.isBuiltIn) this.#lifetime.push(this.#endWithDefinition());
    } catch (error) {
      if (!(error instanceof StorageExpired)) throw error;
      this.#fail(expired(`too old resource version: ${revision} (${this.#storage.compactedRevision})`).status);
      return this.#stream;
    }
    this.#startTimers();
    if (signal.aborted) this.#stream.end();
    return this.#stream;
  }

  /** Ends the watch when its CRD is deleted. A new watch then gets the error that the kind is not served. */
  #endWithDefinition(): Disposable {
    const { group, plural } = this.#request.definition;
    return this.#storage.subscribe(CRD_STORAGE, this.#storage.revision, {
      changes: (changes) => {
        const isGone = changes.some(({ type, current }) => type === "deleted" && current.key === `${plural}.${group}`);
        if (isGone) this.#inOrder(() => this.#stream.end());
      },
      ended: () => {},
    });
  }

  /** Sends the current state as ADDED events. */
  #sendState(): void {
    const { definition, namespace, filter, options } = this.#request;
    const snapshot = this.#storage.snapshot(definition.storageId, this.#fromRevision)!;
    for (const stored of snapshot.entries(namespace === "" ? {} : { namespace })) {
      this.#withServed(stored, (object) => {
        if (filter.matches(object.object)) this.#send("ADDED", object);
      });
    }
    if (options.sendInitialEvents === true && options.allowsBookmarks) {
      this.#inOrder(() => this.#sendBookmark(this.#fromRevision, INITIAL_EVENTS_END));
    }
  }

  #onChange(change: Change): void {
    const { namespace, filter } = this.#request;
    const { type, current, previous } = change;
    if (namespace !== "" && !current.key.startsWith(`${namespace}/`)) return;
    const eventType = EVENT_TYPES[type];
    if (filter.isEmpty || type === "added" || type === "deleted") {
      this.#withServed(current, (object) => {
        if (filter.matches(object.object)) this.#send(eventType, object);
      });
      return;
    }
    this.#withServed(previous!, (before) =>
      this.#withServed(current, (after) => {
        const [wasIn, isIn] = [filter.matches(before.object), filter.matches(after.object)];
        if (isIn) this.#send(wasIn ? "MODIFIED" : "ADDED", after);
        else if (wasIn) this.#send("DELETED", stamped(before, current.revision));
      }),
    );
  }

  #send(type: EventType, object: ServedObject): void {
    this.#stream.push(...this.#request.presentation.event(type, object), NEWLINE);
  }

  #sendBookmark(revision: number, annotations?: Readonly<Record<string, string>>): void {
    const metadata = { resourceVersion: String(revision), ...(annotations && { annotations }) };
    const event = { type: "BOOKMARK", object: this.#request.presentation.bookmark(metadata) };
    this.#stream.push(bytesOf(`${JSON.stringify(event)}\n`));
  }

  #fail(status: Status): void {
    this.#stream.push(bytesOf(`${JSON.stringify({ type: "ERROR", object: status })}\n`));
    this.#stream.end();
  }

  /** Calls `use` with the object at the requested version: at once, or after events that wait for a webhook. */
  #withServed(stored: StoredObject, use: (object: ServedObject) => void): void {
    const ready = this.#forms.servedNow(stored, this.#request.definition);
    if (ready !== undefined) this.#inOrder(() => use(ready));
    else
      this.#inOrder(async () => use(await this.#forms.served(stored, this.#request.definition, this.#request.signal)));
  }

  #inOrder(step: () => void | Promise<void>): void {
    if (this.#converting === undefined) {
      const pending = step();
      if (pending !== undefined) this.#waitFor(pending);
    } else this.#waitFor(this.#converting.then(step));
  }

  #waitFor(pending: Promise<void>): void {
    const converting = pending.catch((error: unknown) => {
      this.#fail(error instanceof StatusError ? error.status : internalError(String(error)).status);
    });
    this.#converting = converting;
    void converting.then(() => {
      if (this.#converting === converting) this.#converting = undefined;
    });
  }

  #startTimers(): void {
    const { timeoutSeconds, allowsBookmarks } = this.#request.options;
    const timeoutMs =
      timeoutSeconds !== undefined && timeoutSeconds > 0
        ? timeoutSeconds * 1000
        : SHORTEST_DEFAULT_TIMEOUT_MS * (1 + this.#random.next());
    this.#after(timeoutMs, () => this.#stream.end());
    if (!allowsBookmarks) return;
    const bookmark = (): void => {
      // The storage announces changes before timers run, so everything up to this revision is queued.
      const { revision } = this.#storage;
      if (revision >= this.#fromRevision) this.#inOrder(() => this.#sendBookmark(revision));
    };
    const repeat = (): void => {
      bookmark();
      this.#after(BOOKMARK_INTERVAL_MS, repeat);
    };
    this.#after(BOOKMARK_INTERVAL_MS, repeat);
    if (timeoutMs > LAST_BOOKMARK_BEFORE_MS) this.#after(timeoutMs - LAST_BOOKMARK_BEFORE_MS, bookmark);
  }

  #after(delayMs: number, callback: () => void): void {
    this.#lifetime.push(this.#clock.timer(delayMs, callback).unref());
  }

  #dispose(): void {
    for (const part of this.#lifetime.splice(0)) part[Symbol.dispose]();
  }
}

const EVENT_TYPES: Readonly<Record<Change["type"], EventType>> = {
  added: "ADDED",
  modified: "MODIFIED",
  deleted: "DELETED",
};

/** The last state that matched the selector, with the revision at which the object stopped matching. */
function stamped({ object }: ServedObject, revision: number): ServedObject {
  const left = { ...object, metadata: { ...object.metadata, resourceVersion: String(revision) } };
  return { object: left, json: bytesOf(JSON.stringify(left)) };
}
