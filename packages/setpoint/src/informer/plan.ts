import {
  isApiError,
  isExpired,
  isNotServed,
  isTooLargeResourceVersion,
  isTooManyRequests,
} from "../client/api-error.js";
import { isSetpointError } from "../errors/error.js";

/**
 * Decides what a reflector does next, without I/O: the state machine of client-go 1.36's reflector, with an exit from
 * streamed lists that never end and from kinds that are not served.
 */
export interface PlanState {
  /** Everything up to here was seen; empty before the first list. */
  readonly resourceVersion: string;
  /** The server does not have this resourceVersion: ask for the newest instead. */
  readonly isUnavailable: boolean;
  /** The first list came in pages although the server's cache could have answered it: keep asking for pages. */
  readonly isPaged: boolean;
  /** When the current series of internal errors began, and its latest error. */
  readonly internalErrors: { readonly firstAtMs: number; readonly lastAtMs: number } | undefined;
}

export interface ListPlanOptions {
  /** Whether the informer requests lists as streams. */
  readonly streamsLists: boolean;
  /** 0 applies the rules below. */
  readonly pageSize: number;
  /** For how long to reopen a watch at once that ends with an internal error. 0 for never. */
  readonly internalErrorRetryMs: number;
}

/** One thing to do. `afterBackoff` says to wait first. */
export type ReflectorAction =
  | { readonly type: "stream-list"; readonly resourceVersion: string; readonly afterBackoff: boolean }
  /** A `limit` of 0 asks for everything in one response. */
  | {
      readonly type: "list";
      readonly resourceVersion: string;
      readonly limit: number;
      readonly afterBackoff: boolean;
    }
  | { readonly type: "watch"; readonly resourceVersion: string; readonly afterBackoff: boolean }
  /** Find out whether the kind is served; wait for it if not. */
  | { readonly type: "look-for-kind" };

export type ReflectorRequest = "stream-list" | "list" | "watch-open" | "watch";

export const INITIAL_STATE: PlanState = {
  resourceVersion: "",
  isUnavailable: false,
  isPaged: false,
  internalErrors: undefined,
};

const DEFAULT_PAGE_SIZE = 500;
const INTERNAL_ERROR_RESET_MS = 60_000;
const VERY_SHORT_MS = 1000;

export function start(state: PlanState, options: ListPlanOptions, afterBackoff = false): ReflectorAction {
  if (!options.streamsLists) return list(state, options, afterBackoff);
  const resourceVersion = state.isUnavailable ? "" : state.resourceVersion;
  return { type: "stream-list", resourceVersion, afterBackoff };
}

function list(state: PlanState, options: ListPlanOptions, afterBackoff = false): ReflectorAction {
  const resourceVersion = state.isUnavailable ? "" : state.resourceVersion || "0";
  return { type: "list", resourceVersion, limit: pageSize(state, options, resourceVersion), afterBackoff };
}

/** A server answers a list at a known resourceVersion from its cache only without a limit. */
function pageSize(state: PlanState, options: ListPlanOptions, resourceVersion: string): number {
  if (options.pageSize > 0) return options.pageSize;
  if (state.isPaged) return DEFAULT_PAGE_SIZE;
  return resourceVersion !== "" && resourceVersion !== "0" ? 0 : DEFAULT_PAGE_SIZE;
}

function watch(state: PlanState, afterBackoff = false): ReflectorAction {
  return { type: "watch", resourceVersion: state.resourceVersion, afterBackoff };
}

/** Everything up to `resourceVersion` was seen. */
export function seen(state: PlanState, resourceVersion: string): PlanState {
  return resourceVersion ? { ...state, resourceVersion } : state;
}

/** A list, streamed or not, is complete and in the store. */
export function listed(
  state: PlanState,
  result: { readonly requested: string; readonly resourceVersion: string; readonly isPaged: boolean },
): readonly [PlanState, ReflectorAction] {
  const next: PlanState = {
    ...state,
    resourceVersion: result.resourceVersion,
    isUnavailable: false,
    isPaged: state.isPaged || (result.requested === "0" && result.isPaged),
  };
  return [next, watch(next)];
}

/** The server closed a stream cleanly. */
export function closed(
  state: PlanState,
  options: ListPlanOptions,
  stream: { readonly attempt: "stream-list" | "watch"; readonly events: number; readonly durationMs: number },
): readonly [PlanState, ReflectorAction] {
  const isVeryShort = stream.events === 0 && stream.durationMs < VERY_SHORT_MS;
  if (stream.attempt === "watch") return [state, isVeryShort ? start(state, options, true) : watch(state)];
  return [state, isVeryShort ? list(state, options) : start(state, options, true)];
}

export function failed(
  state: PlanState,
  options: ListPlanOptions,
  attempt: ReflectorRequest,
  error: unknown,
  nowMs: number,
): readonly [PlanState, ReflectorAction] {
  if (isNotServed(error)) return [state, { type: "look-for-kind" }];
  switch (attempt) {
    case "stream-list": {
      if (isPassing(error)) return [state, start(state, options, true)];
      if (!isStale(error)) return [state, list(state, options)];
      const next = { ...state, isUnavailable: true };
      return [next, start(next, options, state.isUnavailable)];
    }
    case "list": {
      if (!isStale(error) || state.isUnavailable) return [state, start(state, options, true)];
      const next = { ...state, isUnavailable: true };
      return [next, list(next, options)];
    }
    case "watch-open":
      return [state, isPassing(error) ? watch(state, true) : start(state, options, true)];
    case "watch":
      return watchFailed(state, options, error, nowMs);
  }
}

function watchFailed(
  state: PlanState,
  options: ListPlanOptions,
  error: unknown,
  nowMs: number,
): readonly [PlanState, ReflectorAction] {
  if (isTooManyRequests(error) || isBroken(error)) return [state, watch(state, true)];
  if (!isApiError(error, "API_INTERNAL")) return [state, start(state, options, true)];
  const before = state.internalErrors;
  const goesOn = before !== undefined && nowMs - before.lastAtMs < INTERNAL_ERROR_RESET_MS;
  const internalErrors = { firstAtMs: goesOn ? before.firstAtMs : nowMs, lastAtMs: nowMs };
  const mayRetry = options.internalErrorRetryMs > 0 && nowMs - internalErrors.firstAtMs <= options.internalErrorRetryMs;
  if (mayRetry) {
    const next = { ...state, internalErrors };
    return [next, watch(next)];
  }
  const next = { ...state, internalErrors: undefined };
  return [next, start(next, options, true)];
}

/** The kind was not served, and now is. Whatever was known before belongs to its former life. */
export function kindAppeared(state: PlanState, options: ListPlanOptions): readonly [PlanState, ReflectorAction] {
  const next: PlanState = { ...INITIAL_STATE, isPaged: state.isPaged, isUnavailable: state.resourceVersion !== "" };
  return [next, start(next, options)];
}

/** Everything is to be asked for again from the newest state: what is kept of the objects has changed. */
export function refreshed(state: PlanState, options: ListPlanOptions): readonly [PlanState, ReflectorAction] {
  const next = { ...state, isUnavailable: true };
  return [next, start(next, options)];
}

/** A temporary error, and the known resourceVersion is still valid: ask again from there. */
function isPassing(error: unknown): boolean {
  return isTooManyRequests(error) || isSetpointError(error, "TRANSPORT_REFUSED");
}

/** A stream that broke or stalled says nothing about the resourceVersion, so the watch continues from there. */
function isBroken(error: unknown): boolean {
  const codes = ["TRANSPORT_BROKEN", "TRANSPORT_TIMEOUT", "TRANSPORT_REFUSED", "STREAM_TRUNCATED"];
  return isSetpointError(error) && codes.includes(error.code);
}

/** The server no longer has the resourceVersion, or does not have it yet. */
function isStale(error: unknown): boolean {
  return isExpired(error) || isTooLargeResourceVersion(error);
}
