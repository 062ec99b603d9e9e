export { mutating, validating } from "./app/admission.js";
export { type App, type AppOptions, app } from "./app/app.js";
export { RefusedError } from "./app/refused-error.js";
export { kindRoute, versionRoute } from "./app/routes/route.js";
export { isAlreadyExists, isApiError, isConflict, isNotFound } from "./client/api-error.js";
export type { Client } from "./client/client.js";
export { connect } from "./client/connect.js";
export type { Duration } from "./clock/duration.js";
export type { Cause } from "./controller/causes/cause.js";
export { every } from "./controller/causes/trigger.js";
export type { Desired, ReconcileContext } from "./controller/context.js";
export {
  type Controller,
  type ControllerOptions,
  controller,
  mapped,
  scoped,
  type Trigger,
} from "./controller/controller.js";
export type { Loop } from "./controller/loop.js";
export { type WatchContext, type Watcher, type WatcherOptions, watcher } from "./controller/watcher.js";
export { isSetpointError, SetpointError } from "./errors/error.js";
export { type Condition, findCondition, isConditionTrue, type NewCondition, setCondition } from "./kinds/condition.js";
export type { ResourceOptions } from "./kinds/declaration.js";
export { k8s } from "./kinds/k8s.js";
export type { Kind, ObjectOf } from "./kinds/kind.js";
export type { JsonObject, JsonValue, KubeObject, NewObject, ObjectMeta } from "./kinds/object.js";
export { type Resource, type ResourceObject, resource } from "./kinds/resource.js";
export { kind } from "./kinds/untyped-kind.js";
export type { Logger } from "./loop/logger.js";
export { done, type Outcome, requeueAfter, retry, terminal, waitFor } from "./loop/outcome.js";
export type { RetryPolicy } from "./loop/retry-policy.js";
export { type RunOptions, run } from "./manager/run.js";
