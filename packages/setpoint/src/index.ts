export {
  type AdmissionOperation,
  type AdmissionOptions,
  type AdmissionRequest,
  type AdmissionUser,
  type MutateOptions,
  type Mutator,
  mutating,
  type ValidateOptions,
  type Validator,
  validating,
} from "./app/admission.js";
export { type App, type AppOptions, type AppRole, app, type GivenUpKind } from "./app/app.js";
export { type BookkeepingOptions, bookkeeping } from "./app/bookkeeping.js";
export type { Converter } from "./app/conversion-review.js";
export type { HealthCheck } from "./app/health-check.js";
export {
  type AppManifest,
  checkManifest,
  type ManifestAccess,
  type ManifestKind,
  type ManifestRoute,
  type ManifestVersion,
  manifestOf,
  validateManifest,
} from "./app/manifest.js";
export { type AppProvider, type ConfigSchema, formatManifest, provideApp, readManifest } from "./app/provider.js";
export { RefusedError } from "./app/refused-error.js";
export {
  kindRoute,
  type Route,
  type RouteMethod,
  type RouteOptions,
  type RouteRequest,
  type RouteResult,
  versionRoute,
} from "./app/route.js";
export { type Runnable, RunnableGroup, type RunnableGroupOptions } from "./app/runnable-group.js";
export { serveWebhooks } from "./app/serve-webhooks.js";
export { type Modify, type StoreCall, TypedStore, type TypedStoreOptions } from "./app/typed-store.js";
export type { WebAnswer } from "./app/web-message.js";
export type { WebhookPlace } from "./app/webhook-address.js";
export type { AnsweredRequest, WebhookServer, WebhookServerOptions } from "./app/webhook-server.js";
export { type ClientOptions, createClient } from "./client/api-client.js";
export {
  ApiError,
  type ApiErrorCode,
  fieldErrors,
  isAlreadyExists,
  isApiError,
  isConflict,
  isExpired,
  isForbidden,
  isInvalid,
  isNotFound,
  isNotServed,
  isTooLargeResourceVersion,
  isTooManyRequests,
  isUnauthorized,
} from "./client/api-error.js";
export { drain, readJson, wholeBody } from "./client/body.js";
export type * from "./client/client.js";
export { type ConnectOptions, connect } from "./client/connect.js";
export { bearerToken, type Credentials } from "./client/credentials.js";
export type { TlsMaterial, TlsSource } from "./client/dialer.js";
export type {
  DiscoveredGroup,
  DiscoveredResource,
  DiscoveredSubresource,
  DiscoveredVersion,
  Discovery,
  DiscoveryFailure,
} from "./client/discovery.js";
export { type HttpTransportOptions, http1Transport } from "./client/http1-transport.js";
export { type Http2TransportOptions, http2Transport } from "./client/http2-transport.js";
export { LineDecoder, type LineHandler, type LineOptions, lines } from "./client/lines.js";
export type { RequestSummary } from "./client/request-summary.js";
export type { RetryOptions } from "./client/retry.js";
export { withSilenceLimit } from "./client/silence.js";
export type { Status, StatusCause, StatusDetails } from "./client/status.js";
export type { Transport, TransportRequest, TransportResponse } from "./client/transport.js";
export type { WarnedRequest } from "./client/warned-request.js";
export type { Clock, Timer } from "./clock/clock.js";
export { type Duration, parseDuration } from "./clock/duration.js";
export { type Random, seededRandom, systemRandom } from "./clock/random.js";
export { afterInput, systemClock } from "./clock/system-clock.js";
export { type TimeoutSignal, timeoutSignal } from "./clock/timeout-signal.js";
export { type Action, type Cause, describeCause } from "./controller/cause.js";
export type { Cluster } from "./controller/cluster.js";
export type {
  ApplyOptions as ChildOptions,
  Desired,
  EffectInPlan,
  ListReadOptions,
  ObjectAccess,
  ReadOptions,
  ReconcileContext,
  StatusOf,
} from "./controller/context.js";
export {
  type Controller,
  type ControllerOptions,
  controller,
  type FailedRun,
  type KindsOf,
  type KindUse,
  mapped,
  type Predicate,
  type ReconcileResult,
  type RetryPolicy,
  type ScopedKind,
  scoped,
  type Trigger,
  type WatchDeclaration,
  type WriteVerb,
} from "./controller/controller.js";
export { type ControllerPhase, ControllerRun, type ControllerStatus } from "./controller/controller-run.js";
export { PAUSED_ANNOTATION, RECONCILE_NOW_ANNOTATION, STEP_ANNOTATION } from "./controller/directives.js";
export type { ControllerEnvironment, ControllerObserver, EndedStep, StartedRun } from "./controller/environment.js";
export type { EventRecorder, ObjectEvent } from "./controller/event-recorder.js";
export { type Fence, openFence } from "./controller/fence.js";
export { sweepFinalizers } from "./controller/finalizer.js";
export { type LogFields, type Logger, silentLogger } from "./controller/logger.js";
export type { Labels, MetricSource, MetricValue } from "./controller/metric-source.js";
export { done, type Outcome, requeueAfter, retry, terminal, waitFor } from "./controller/outcome.js";
export { OWNER_ANNOTATION } from "./controller/ownership.js";
export { describePlan, type PlannedRun } from "./controller/planned-run.js";
export type { RbacRule } from "./controller/rbac-rule.js";
export { SecretMask } from "./controller/secret-mask.js";
export { type RunRecord, Timeline, type TimelineFilter, type WriteRecord } from "./controller/timeline.js";
export { type Span, type SpanContext, type Tracer, Traces } from "./controller/traces.js";
export { every } from "./controller/trigger.js";
export {
  type FailedStep,
  opinionatedSupersede,
  type SupersedePolicy,
  supersedeAll,
  type WatchContext,
  type Watcher,
  type WatcherOptions,
  type WatchStep,
  watcher,
} from "./controller/watcher.js";
export { WatcherRun } from "./controller/watcher-run.js";
export { defineErrors, type ErrorEntry, isSetpointError, SetpointError } from "./errors/error.js";
export type { ErrorCode } from "./errors/registry.js";
export type { BodyStore, BodyStoreOptions, StoredBody } from "./informer/body-store.js";
export { ExternalInformer, type ExternalInformerOptions } from "./informer/external-informer.js";
export type * from "./informer/informer.js";
export { type InformerRequest, type InformerShare, Informers, type InformersOptions } from "./informer/informers.js";
export type { ReflectorOptions } from "./informer/reflector.js";
export type { Projection } from "./informer/retention.js";
export type { InformerOptions } from "./informer/shared-informer.js";
export type { StoreOptions } from "./informer/store.js";
export type { WatchErrorType, WatchTally } from "./informer/watch-tally.js";
export type { CustomResourceDefinition } from "./kinds/builtin/apiextensions.k8s.io/v1.js";
export { type Condition, findCondition, isConditionTrue, type NewCondition, setCondition } from "./kinds/condition.js";
export type { CrdManifest, CrdOptions } from "./kinds/crd.js";
export { type CrdChange, compareCrds } from "./kinds/crd-changes.js";
export type {
  ColumnOptions,
  ResourceDeclaration,
  ResourceOptions,
  ScaleOptions,
  VersionOptions,
} from "./kinds/declaration.js";
export { type DiscoveryClient, discoverKind } from "./kinds/discovered-kind.js";
export {
  type FieldRequirement,
  type FieldSelectorLike,
  formatFieldSelector,
  matchesFields,
  parseFieldSelector,
} from "./kinds/field-selector.js";
export { type CrdClient, type InstallCrdOptions, type InstallCrdResult, installCrd } from "./kinds/install-crd.js";
export { type IntOrString, scaledValue } from "./kinds/int-or-string.js";
export type { InputOf, JsonSchema, OutputOf, Schema, StandardSchema } from "./kinds/json-schema.js";
export { k8s, type Marker } from "./kinds/k8s.js";
export { type Kind, keyOf, kindId, type ObjectOf, parseKey, type Scope, type UntypedKind } from "./kinds/kind.js";
export { type KindId, parseKindId, pluralOf } from "./kinds/kind-id.js";
export { labelKeyProblem, labelValueProblem } from "./kinds/label.js";
export {
  formatLabelSelector,
  type LabelRequirement,
  type LabelSelector,
  type LabelSelectorLike,
  type LabelSelectorRequirement,
  matchesLabels,
  parseLabelSelector,
} from "./kinds/label-selector.js";
export type {
  DeepPartial,
  DeepReadonly,
  JsonObject,
  JsonValue,
  KubeObject,
  ManagedFieldsEntry,
  NewObject,
  ObjectMeta,
  OwnerReference,
  UntypedObject,
} from "./kinds/object.js";
export {
  addQuantities,
  compareQuantities,
  formatQuantity,
  parseQuantity,
  type Quantity,
  type QuantityFormat,
  type QuantityLike,
  quantityPattern,
  quantityToNumber,
  subtractQuantities,
} from "./kinds/quantity.js";
export { type Resource, type ResourceObject, resource } from "./kinds/resource.js";
export { compareResourceVersions } from "./kinds/resource-version.js";
export type { StructuralSchema } from "./kinds/structural-schema.js";
export { formatMicroTime, formatTime, parseTime } from "./kinds/time.js";
export { type KindOptions, kind, untypedKind } from "./kinds/untyped-kind.js";
export type { FieldProblem } from "./kinds/validation.js";
export type { AppHosting } from "./manager/app-host.js";
export { type Configuration, type ConfigurationSources, readConfiguration } from "./manager/configuration.js";
export type { ElectionOptions } from "./manager/election.js";
export type { EndpointAnswer, EndpointRequest } from "./manager/endpoint-server.js";
export type { EndpointOptions, ListenAddress } from "./manager/endpoints.js";
export { EventWriter, type EventWriterOptions } from "./manager/event-writer.js";
export { type JsonLoggerOptions, jsonLogger, type LogLevel } from "./manager/json-logger.js";
export { type Elector, LeaderElector, type LeaderElectorOptions } from "./manager/leader-elector.js";
export { Manager, type ManagerOptions } from "./manager/manager.js";
export { measuredBodies } from "./manager/measured-bodies.js";
export {
  type Collector,
  type Counter,
  type Gauge,
  type Histogram,
  MetricRegistry,
} from "./manager/metric-registry.js";
export type { Part, Workload } from "./manager/part.js";
export { type PlanOptions, plan } from "./manager/plan.js";
export { type PreflightFinding, type PreflightOptions, preflight } from "./manager/preflight.js";
export {
  type RbacManifestOptions,
  type RbacOptions,
  rbacManifests,
  rbacRules,
} from "./manager/rbac.js";
export { type RunOptions, type Runs, run } from "./manager/run.js";
export { type NarrowedRules, SeenAccess } from "./manager/seen-access.js";
export { parseAddress } from "./manager/settings.js";
export type { BackoffOptions } from "./queue/backoff.js";
export type { MergeCauses, WorkItem } from "./queue/key-queue.js";
export { type MetricDefinition, type QueueObserver, queueMetrics } from "./queue/queue-metrics.js";
export type { Priority } from "./queue/ready-lines.js";
export type { TokenBucketOptions } from "./queue/token-bucket.js";
export { type AddOptions, WorkQueue, type WorkQueueOptions } from "./queue/work-queue.js";
