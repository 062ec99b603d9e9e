import { Buffer } from "node:buffer";
import { isApiError, isExpired, isNotServed } from "../../client/api-error.js";
import type { QueryValue } from "../../client/api-path.js";
import type { Client } from "../../client/client.js";
import { LineDecoder } from "../../client/lines.js";
import type { Clock } from "../../clock/clock.js";
import { type Duration, parseDuration } from "../../clock/duration.js";
import type { Random } from "../../clock/random.js";
import { isSetpointError, SetpointError } from "../../errors/error.js";
import { type Kind, kindId } from "../../kinds/kind.js";
import type { Partition, WatchEventType } from "../deltas.js";
import type { InformerPhase, InformerScope } from "../informer.js";
import {
  closed,
  failed,
  INITIAL_STATE,
  kindAppeared,
  type ListPlanOptions,
  listed,
  type PlanState,
  type ReflectorAction,
  type ReflectorRequest,
  refreshed,
  seen,
  start,
} from "../plan.js";
import { WatchBackoff } from "./backoff.js";
import { EventReader, type WatchLine } from "./event-line.js";
import { type Incoming, isUnreadable, type ObjectDecoder } from "./incoming.js";
import { KindWatch } from "./kind-watch.js";
import { type ListPage, readListPage } from "./list-page.js";
import { ListWatch, type Query } from "./list-watch.js";
import { StallWatch } from "./stall-watch.js";
import type { WatchTally } from "./watch-tally.js";

export interface ReflectorOptions {
  /** Requests lists as streams if the server supports it. Defaults to true. */
  readonly streamsLists?: boolean;
  /** Objects per page of a list. Defaults to 500 where pages help. */
  readonly pageSize?: number;
  readonly internalErrorRetry?: Duration;
  /** How long a stream may be silent before it counts as dead; bookmarks come about each minute. Defaults to 100 s. */
  readonly silence?: Duration;
  /** How long a streamed list may make no progress before it is given up. Defaults to 30 s. */
  readonly streamListStall?: Duration;
  /** The server closes a watch after this long, or up to twice that. Defaults to 5 minutes. */
  readonly watchTimeout?: Duration;
}

/** What all informers of a server remember about it. */
export interface ServerMemory {
  /** False once a streamed list was refused or did not end: later lists use pages. */
  streamsLists: boolean;
}

/** Receives what a reflector gets. `Stage` is a list that is being collected. */
export interface ReflectorTarget<Stage> {
  apply(type: WatchEventType, incoming: Incoming, partition: Partition): void;
  advance(partition: Partition, resourceVersion: string): void;
  beginList(): Stage;
  stage(stage: Stage, incoming: Incoming): void;
  unstage(stage: Stage, incoming: Incoming): void;
  abandon(stage: Stage): void;
  replace(stage: Stage, resourceVersion: string, partition: Partition, isNewest: boolean): void;
  vanish(partition: Partition): void;
}

export interface ReflectorContext<Stage> {
  readonly client: Pick<Client, "raw">;
  readonly clock: Clock;
  readonly random: Random;
  readonly kind: Kind;
  readonly scope: InformerScope;
  readonly partition: Partition;
  readonly accept: string;
  readonly reader: ObjectDecoder;
  readonly deltas: ReflectorTarget<Stage>;
  readonly memory: ServerMemory;
  readonly tally: WatchTally;
  readonly options: ReflectorOptions;
  readonly onPhase: (phase: InformerPhase) => void;
  readonly onSynced: () => void;
  readonly onError: (error: unknown) => void;
  /** A list is complete, or a watch is open. */
  readonly onWorking: () => void;
}

const DEFAULT_SILENCE_MS = 100_000;
const DEFAULT_STREAM_LIST_STALL_MS = 30_000;
const DEFAULT_WATCH_TIMEOUT_MS = 300_000;
/** The largest total duration of a streamed list, as a multiple of its stall limit. */
const LONGEST_STALLS = 20;

/** Lists and watches one kind in one namespace or all, until its signal is aborted, and updates {@link Deltas}. */
export class Reflector<Stage> {
  readonly #context: ReflectorContext<Stage>;
  readonly #plan: () => ListPlanOptions;
  readonly #backoff: WatchBackoff;
  readonly #kindWatch: KindWatch;
  readonly #listWatch: ListWatch;
  #state: PlanState = INITIAL_STATE;
  #attempt: AbortController | undefined;
  #isRefreshWanted = false;

  constructor(context: ReflectorContext<Stage>) {
    const { options, memory, random } = context;
    this.#context = context;
    this.#plan = () => ({
      streamsLists: (options.streamsLists ?? true) && memory.streamsLists,
      pageSize: options.pageSize ?? 0,
      internalErrorRetryMs: parseDuration(options.internalErrorRetry ?? 0, "internalErrorRetry"),
    });
    this.#backoff = new WatchBackoff(random);
    this.#kindWatch = new KindWatch(context);
    this.#listWatch = new ListWatch({
      ...context,
      silenceMs: parseDuration(options.silence ?? DEFAULT_SILENCE_MS, "silence"),
    });
  }

  /** Lists again from the newest state; the current objects stay meanwhile. */
  refresh(): void {
    this.#isRefreshWanted = true;
    this.#attempt?.abort();
  }

  /** Never rejects; resolves when `signal` is aborted. */
  async run(signal: AbortSignal): Promise<void> {
    let action = start(this.#state, this.#plan());
    while (!signal.aborted) {
      const attempt = new AbortController();
      const onAbort = (): void => attempt.abort(signal.reason);
      signal.addEventListener("abort", onAbort, { once: true });
      this.#attempt = attempt;
      try {
        action = await this.#perform(action, attempt);
      } catch (error) {
        if (!attempt.signal.aborted) {
          // Expected failures are results of actions; any other must not become a busy loop.
          this.#context.onError(error);
          action = start(this.#state, this.#plan(), true);
        }
      } finally {
        signal.removeEventListener("abort", onAbort);
        attempt.abort();
      }
      if (this.#isRefreshWanted) {
        this.#isRefreshWanted = false;
        action = this.#next(refreshed(this.#state, this.#plan()));
      }
    }
  }

  async #perform(action: ReflectorAction, attempt: AbortController): Promise<ReflectorAction> {
    const { clock, onPhase } = this.#context;
    if (action.type === "look-for-kind") return this.#lookForKind(attempt.signal);
    if (action.afterBackoff) {
      onPhase("backing-off");
      await clock.sleep(this.#backoff.next(clock.monotonic()), attempt.signal);
    }
    switch (action.type) {
      case "list":
        onPhase("listing");
        return this.#list(action, attempt);
      case "stream-list":
        onPhase("listing");
        return this.#stream(action, attempt);
      case "watch":
        onPhase("watching");
        return this.#stream(action, attempt);
    }
  }

  #next([state, action]: readonly [PlanState, ReflectorAction]): ReflectorAction {
    this.#state = state;
    return action;
  }

  #fail(attempt: ReflectorRequest, error: unknown, signal: AbortSignal): ReflectorAction {
    if (signal.aborted && isSetpointError(error, "ABORTED")) throw error;
    if (!isExpired(error) && !isNotServed(error)) this.#context.onError(error);
    return this.#next(failed(this.#state, this.#plan(), attempt, error, this.#context.clock.monotonic()));
  }

  async #lookForKind(signal: AbortSignal): Promise<ReflectorAction> {
    const { deltas, partition, onPhase } = this.#context;
    const isServed = await this.#kindWatch.isServed(signal);
    if (isServed !== false) {
      const problem = `${kindId(this.#context.kind)}: the server answers 404, but ${isServed ? "serves the kind" : "does not say which kinds it serves"}`;
      this.#context.onError(new SetpointError("INFORMER_KIND_UNCLEAR", problem));
      return start(this.#state, this.#plan(), true);
    }
    onPhase("waiting-for-kind");
    this.#context.onError(new SetpointError("INFORMER_KIND_NOT_SERVED", `${kindId(this.#context.kind)} is not served`));
    deltas.vanish(partition);
    await this.#kindWatch.untilServed(signal);
    return this.#next(kindAppeared(this.#state, this.#plan()));
  }

  async #list(action: ReflectorAction & { type: "list" }, attempt: AbortController): Promise<ReflectorAction> {
    const { deltas, partition } = this.#context;
    let stage = deltas.beginList();
    try {
      const pages = { count: 0, resourceVersion: "", continueToken: "" };
      let query: Record<string, QueryValue> = {
        resourceVersion: action.resourceVersion,
        limit: action.limit || undefined,
      };
      do {
        let page: ListPage;
        try {
          page = await this.#page(query, attempt);
        } catch (error) {
          if (!isExpired(error) || pages.continueToken === "") throw error;
          // The snapshot expired between two pages: get everything in one response.
          deltas.abandon(stage);
          stage = deltas.beginList();
          pages.continueToken = "";
          page = await this.#page({ resourceVersion: action.resourceVersion }, attempt);
        }
        this.#stageAll(stage, page);
        pages.count++;
        // Later pages belong to the snapshot of the first.
        if (pages.continueToken === "") pages.resourceVersion = page.resourceVersion;
        pages.continueToken = page.continueToken;
        query = { limit: action.limit || undefined, continue: page.continueToken };
      } while (pages.continueToken !== "");
      deltas.replace(stage, pages.resourceVersion, partition, action.resourceVersion === "");
      stage = deltas.beginList();
      this.#context.onSynced();
      this.#context.onWorking();
      const result = { requested: action.resourceVersion, ...pages, isPaged: pages.count > 1 };
      return this.#next(listed(this.#state, result));
    } catch (error) {
      return this.#fail("list", error, attempt.signal);
    } finally {
      deltas.abandon(stage);
    }
  }

  async #page(query: Query, attempt: AbortController): Promise<ListPage> {
    const request = this.#listWatch.summary(query);
    const chunks: Buffer[] = [];
    await this.#listWatch.read("list", request, attempt, (chunk) => chunks.push(Buffer.from(chunk)));
    return readListPage(request, Buffer.concat(chunks));
  }

  #stageAll(stage: Stage, page: ListPage): void {
    const { reader, deltas } = this.#context;
    for (const [from, to] of page.items) {
      const read = reader.read(page.bytes, from, to);
      if (isUnreadable(read)) this.#refuse(read.refused);
      else deltas.stage(stage, read);
    }
    reader.release();
  }

  /** A watch; where the action is a streamed list, the list comes first on the same stream. */
  async #stream(
    action: ReflectorAction & { type: "watch" | "stream-list" },
    attempt: AbortController,
  ): Promise<ReflectorAction> {
    const { clock, deltas, partition, reader, tally } = this.#context;
    const startedMs = clock.monotonic();
    const list = action.type === "stream-list" ? this.#beginStreamedList(action.resourceVersion, attempt) : undefined;
    let events = 0;
    let isOpen = false;
    try {
      const request = this.#listWatch.summary(this.#watchQuery(action));
      const decoder = new LineDecoder();
      const lines = new EventReader(request, reader);
      const onLine = (bytes: Buffer, from: number, to: number): void => {
        events++;
        const line = lines.read(bytes, from, to);
        if (line.type === "REFUSED") {
          tally.errors.translation_error++;
          this.#refuse(line.reason);
          return;
        }
        tally.events[line.type]++;
        if (list?.stage) this.#collect(list, line);
        else this.#apply(line);
      };
      const onChunk = (chunk: Uint8Array): void => decoder.push(chunk, onLine);
      try {
        await this.#listWatch.read("watch", request, attempt, onChunk, () => {
          isOpen = true;
          if (!list) this.#context.onWorking();
        });
      } finally {
        // Not with each event, because it is read only after the stream has ended.
        if (!list?.stage) this.#state = seen(this.#state, partition.resourceVersion);
      }
      decoder.end();
      const durationMs = clock.monotonic() - startedMs;
      const stream = { attempt: list?.stage ? "stream-list" : "watch", events, durationMs } as const;
      return this.#next(closed(this.#state, this.#plan(), stream));
    } catch (cause) {
      const error = list?.stall.isStalled ? stalled(this.#context.kind, cause) : cause;
      if (isOpen && isApiError(error)) tally.errors.error_event++;
      if (isSetpointError(error, "RESPONSE_INVALID")) tally.errors.unparseable_object++;
      return this.#streamFailed(error, list?.stage !== undefined, isOpen, attempt.signal);
    } finally {
      list?.stall[Symbol.dispose]();
      if (list?.stage) deltas.abandon(list.stage);
    }
  }

  #beginStreamedList(requested: string, attempt: AbortController): StreamedList<Stage> {
    const { clock, deltas, options } = this.#context;
    const limitMs = parseDuration(options.streamListStall ?? DEFAULT_STREAM_LIST_STALL_MS, "streamListStall");
    const limits = { limitMs, longestMs: limitMs * LONGEST_STALLS };
    return { requested, stage: deltas.beginList(), stall: new StallWatch(clock, limits, () => attempt.abort()) };
  }

  #collect(list: StreamedList<Stage>, line: Exclude<WatchLine, { type: "REFUSED" }>): void {
    const { deltas, partition } = this.#context;
    const stage = list.stage!;
    if (line.type === "DELETED") deltas.unstage(stage, line.incoming);
    else if (line.type !== "BOOKMARK") {
      if (line.type === "ADDED") list.stall.progress();
      deltas.stage(stage, line.incoming);
    } else if (line.initialEventsEnd) {
      list.stall[Symbol.dispose]();
      list.stage = undefined;
      deltas.replace(stage, line.resourceVersion, partition, list.requested === "");
      this.#next(listed(this.#state, { ...list, resourceVersion: line.resourceVersion, isPaged: false }));
      this.#context.onPhase("watching");
      this.#context.onSynced();
      this.#context.onWorking();
    }
  }

  #apply(line: Exclude<WatchLine, { type: "REFUSED" }>): void {
    const { deltas, partition } = this.#context;
    if (line.type === "BOOKMARK") deltas.advance(partition, line.resourceVersion);
    else deltas.apply(line.type, line.incoming, partition);
  }

  #streamFailed(error: unknown, isListing: boolean, isOpen: boolean, signal: AbortSignal): ReflectorAction {
    if (!isListing) return this.#fail(isOpen ? "watch" : "watch-open", error, signal);
    const isUnable =
      isSetpointError(error, "INFORMER_STREAM_LIST_STALLED") ||
      isApiError(error, "API_INVALID") ||
      isApiError(error, "API_BAD_REQUEST");
    if (isUnable) this.#context.memory.streamsLists = false;
    return this.#fail("stream-list", error, signal);
  }

  #watchQuery(action: ReflectorAction & { type: "watch" | "stream-list" }): Record<string, QueryValue> {
    const shortestMs = parseDuration(this.#context.options.watchTimeout ?? DEFAULT_WATCH_TIMEOUT_MS, "watchTimeout");
    const isList = action.type === "stream-list";
    return {
      watch: true,
      resourceVersion: action.resourceVersion,
      allowWatchBookmarks: true,
      sendInitialEvents: isList || undefined,
      resourceVersionMatch: isList ? "NotOlderThan" : undefined,
      timeoutSeconds: Math.floor((shortestMs * (1 + this.#context.random.next())) / 1000),
    };
  }

  #refuse(reason: string): void {
    const { kind, onError } = this.#context;
    onError(new SetpointError("INFORMER_OBJECT_REFUSED", `${kindId(kind)}: the server sent ${reason}`));
  }
}

/** A streamed list in progress. */
interface StreamedList<Stage> {
  readonly requested: string;
  readonly stall: StallWatch;
  /** Undefined once the list is complete and in the store. */
  stage: Stage | undefined;
}

function stalled(kind: Kind, cause: unknown): SetpointError {
  const message = `${kindId(kind)}: the streamed list did not end`;
  return new SetpointError("INFORMER_STREAM_LIST_STALLED", message, { cause });
}
