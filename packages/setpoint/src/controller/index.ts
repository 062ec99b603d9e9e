export type { EffectInPlan } from "../loop/context.js";
export type { Fence } from "../loop/fence.js";
export { type LogFields, silentLogger } from "../loop/logger.js";
export { OWNER_ANNOTATION } from "./apply/ownership.js";
export { type Action, describeCause } from "./causes/cause.js";
export type { Cluster } from "./cluster.js";
export type {
  ChildOptions,
  ConditionOn,
  GoneContext,
  ListReadOptions,
  ObjectAccess,
  ReadOptions,
  StatusHasNoConditions,
  StatusOf,
} from "./context.js";
export type {
  FailedRun,
  KindsOf,
  KindUse,
  NamespaceScope,
  Predicate,
  ReconcileResult,
  ScopedKind,
  WatchDeclaration,
  WriteVerb,
} from "./controller.js";
export type { ControllerEnvironment, ControllerObserver, EndedStep, StartedRun } from "./environment.js";
export type { EventRecorder, ObjectEvent } from "./event-recorder.js";
export type {
  Counter,
  Gauge,
  Histogram,
  Labels,
  MetricSource,
  Metrics,
  MetricValue,
  OwnMetric,
} from "./metric-source.js";
export type { RbacRule } from "./rbac-rule.js";
export type { ControllerPhase, ControllerStatus } from "./run/controller-status.js";
export { PAUSED_ANNOTATION, RECONCILE_NOW_ANNOTATION, STEP_ANNOTATION } from "./run/directives.js";
export { sweepFinalizers } from "./run/finalizer.js";
export { LiveController } from "./run/live-controller.js";
export { LiveWatcher } from "./run/live-watcher.js";
export { describePlan, type PlannedRun } from "./run/planned-run.js";
export { SecretMask, type SecretMaskOptions } from "./secrets/secret-mask.js";
export type { SecretOptions } from "./secrets/secret-policy.js";
export { type RunRecord, Timeline, type TimelineFilter, type WriteRecord } from "./timeline/timeline.js";
export { type Span, type SpanContext, type Tracer, Traces } from "./timeline/traces.js";
export {
  type FailedStep,
  opinionatedSupersede,
  type SupersedePolicy,
  supersedeAll,
  type WatchStep,
} from "./watcher.js";
