export type {
  AdmissionOperation,
  AdmissionOptions,
  AdmissionRequest,
  AdmissionUser,
  MutateOptions,
  Mutator,
  ValidateOptions,
  Validator,
} from "./admission.js";
export type { AppRole, GivenUpKind } from "./app.js";
export { type BookkeepingOptions, bookkeeping } from "./bookkeeping.js";
export type { HealthCheck } from "./health-check.js";
export {
  type AppManifest,
  checkManifest,
  type ManifestAccess,
  type ManifestKind,
  type ManifestRoute,
  type ManifestVersion,
  manifestOf,
  validateManifest,
} from "./manifest.js";
export { type AppProvider, type ConfigSchema, formatManifest, provideApp, readManifest } from "./provider.js";
export type { Route, RouteMethod, RouteOptions, RouteRequest, RouteResult } from "./routes/route.js";
export type { WebAnswer } from "./routes/web-message.js";
export { type Runnable, RunnableGroup, type RunnableGroupOptions } from "./runnable-group.js";
export { type Modify, type StoreCall, TypedStore, type TypedStoreOptions } from "./typed-store.js";
export type { Converter } from "./webhooks/conversion-review.js";
export { serveWebhooks } from "./webhooks/serve-webhooks.js";
export type { WebhookPlace } from "./webhooks/webhook-address.js";
export type { AnsweredRequest, WebhookServer, WebhookServerOptions } from "./webhooks/webhook-server.js";
