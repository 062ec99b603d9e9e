import type { Clock } from "setpoint/clock";
import { badRequest, expired, tooLargeResourceVersion } from "../../api/status-error.js";
import type { ResourceDefinition } from "../../kinds/resource-definition.js";
import type { Snapshot, Storage, StoredObject } from "../../storage/storage.js";
import type { ListMetadata } from "../presentation/presentation.js";
import { type ListOptions, parseResourceVersion } from "../query/list-options.js";
import { decodeContinue, encodeContinue } from "./continue-token.js";
import type { ObjectFilter } from "./object-filter.js";
import type { ServedForms, ServedObject } from "./served-form.js";

/** How long a request waits for a future revision, as in the real server. */
const FUTURE_WAIT_MS = 3000;

export interface ListRequest {
  readonly definition: ResourceDefinition;
  /** Empty for all namespaces. */
  readonly namespace: string;
  readonly filter: ObjectFilter;
  readonly options: Pick<ListOptions, "resourceVersion" | "resourceVersionMatch" | "limit" | "continue">;
  readonly signal: AbortSignal;
}

export interface ListPage {
  readonly metadata: ListMetadata;
  readonly items: readonly ServedObject[];
}

interface Position {
  readonly snapshot: Snapshot;
  /** The first key to read: `namespace/name` for all namespaces. */
  readonly start: string;
}

export interface ListEnvironment {
  readonly storage: Storage;
  readonly clock: Clock;
  readonly forms: ServedForms;
}

/** Lists one page, or everything, from one consistent state. */
export async function list(environment: ListEnvironment, request: ListRequest): Promise<ListPage> {
  const { storage, clock, forms } = environment;
  const { definition, filter, options, signal } = request;
  const namespace = request.namespace === "" && definition.namespaced ? (filter.namespace ?? "") : request.namespace;
  const { snapshot, start } = await positionOf(storage, clock, request);
  const limit = options.limit > 0 && !(options.resourceVersion === "0" && options.continue === "") ? options.limit : 0;
  const selected: StoredObject[] = [];
  const passes = async (stored: StoredObject): Promise<boolean> =>
    filter.matches((await forms.served(stored, definition, signal)).object);
  // Selectors match the requested version. Only a conversion needs an await.
  const needsConversion = definition.convert !== undefined;
  const isSingle = filter.name !== undefined && (namespace !== "" || !definition.namespaced);
  if (isSingle) {
    const key = namespace === "" ? filter.name! : `${namespace}/${filter.name}`;
    const stored = key >= start ? snapshot.get(key) : undefined;
    if (stored !== undefined && (await passes(stored))) selected.push(stored);
    const metadata = { resourceVersion: String(snapshot.revision) };
    return { metadata, items: await forms.servedAll(selected, definition, signal) };
  }
  let last: StoredObject | undefined;
  let remaining = 0;
  for (const stored of snapshot.entries({ ...(namespace === "" ? {} : { namespace }), start })) {
    if (limit > 0 && selected.length >= limit) {
      remaining++;
      if (!filter.isEmpty) break;
      continue;
    }
    if (!filter.isEmpty && !(needsConversion ? await passes(stored) : filter.matches(stored.object))) continue;
    selected.push(stored);
    last = stored;
  }
  const metadata: ListMetadata = {
    resourceVersion: String(snapshot.revision),
    ...(remaining > 0 && {
      continue: encodeContinue({ revision: snapshot.revision, start: nextStart(last!, request) }),
    }),
    ...(remaining > 0 && filter.isEmpty && { remainingItemCount: remaining }),
  };
  return { metadata, items: await forms.servedAll(selected, definition, signal) };
}

/** The key after the last one returned, relative to the list's own prefix. */
function nextStart(last: StoredObject, { namespace }: ListRequest): string {
  const relative = namespace === "" ? last.key : last.key.slice(namespace.length + 1);
  return `${relative}\u0000`;
}

async function positionOf(storage: Storage, clock: Clock, request: ListRequest): Promise<Position> {
  const { definition, options, namespace } = request;
  const { storageId } = definition;
  if (options.continue !== "") {
    const token = decodeContinue(options.continue);
    if (options.resourceVersion !== "" && options.resourceVersion !== "0") {
      throw badRequest("specifying resource version is not allowed when using continue");
    }
    const start = namespace === "" ? token.start : `${namespace}/${token.start}`;
    if (token.revision < 0) return { snapshot: storage.snapshot(storageId)!, start };
    if (token.revision > storage.revision) throw tooLargeResourceVersion(token.revision, storage.revision);
    const snapshot = storage.snapshot(storageId, token.revision);
    if (snapshot === undefined) throw expiredContinue(token.start);
    return { snapshot, start };
  }
  const revision = parseResourceVersion(options.resourceVersion);
  const isExact =
    options.resourceVersionMatch === "Exact" ||
    (options.resourceVersionMatch === "" && options.limit > 0 && revision > 0);
  if (revision > 0) await atLeast(storage, clock, revision, request.signal);
  const snapshot = isExact ? storage.snapshot(storageId, revision) : storage.snapshot(storageId);
  if (snapshot === undefined) throw expired("The resourceVersion for the provided list is too old.");
  return { snapshot, start: "" };
}

/** Waits briefly for a future revision, then throws a 504. */
export async function atLeast(storage: Storage, clock: Clock, revision: number, signal: AbortSignal): Promise<void> {
  if (revision <= storage.revision) return;
  const waiting = new AbortController();
  const ended = AbortSignal.any([waiting.signal, signal]);
  const timer = clock.timer(FUTURE_WAIT_MS, () => waiting.abort());
  try {
    await storage.reached(revision, ended);
  } catch (error) {
    signal.throwIfAborted();
    if (!waiting.signal.aborted) throw error;
    throw tooLargeResourceVersion(revision, storage.revision);
  } finally {
    timer[Symbol.dispose]();
  }
}

function expiredContinue(start: string): Error {
  return expired(
    "The provided continue parameter is too old to display a consistent list result. You can start a new list without " +
      "the continue parameter, or use the continue token in this response to retrieve the remainder of the results. " +
      "Continuing with the provided token results in an inconsistent list - objects that were created, modified, or " +
      "deleted between the time the first chunk was returned and now may show up in the list.",
    encodeContinue({ revision: -1, start }),
  );
}
