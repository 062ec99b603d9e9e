import type { JsonObject } from "../kinds/object.js";
import type { QueryValue } from "./api-path.js";
import type { DeleteOptions, ListOptions, WatchOptions } from "./client.js";

/** The options of a call as the query parameters of its request. */
export function listQuery(options: ListOptions): Record<string, QueryValue> {
  return {
    labelSelector: options.labelSelector,
    fieldSelector: options.fieldSelector,
    limit: options.limit,
    continue: options.continue,
    resourceVersion: options.resourceVersion,
    resourceVersionMatch: options.resourceVersionMatch,
  };
}

export function watchQuery(options: WatchOptions): Record<string, QueryValue> {
  return {
    watch: true,
    labelSelector: options.labelSelector,
    fieldSelector: options.fieldSelector,
    resourceVersion: options.resourceVersion,
    resourceVersionMatch: options.resourceVersionMatch,
    allowWatchBookmarks: options.allowBookmarks ?? true,
    sendInitialEvents: options.sendInitialEvents,
    timeoutSeconds: options.timeoutSeconds,
  };
}

/** The body of a delete. */
export function deleteBody(options: DeleteOptions): JsonObject {
  return {
    apiVersion: "v1",
    kind: "DeleteOptions",
    preconditions: options.preconditions,
    propagationPolicy: options.propagation,
    gracePeriodSeconds: options.gracePeriodSeconds,
    dryRun: options.dryRun ? ["All"] : undefined,
  };
}
