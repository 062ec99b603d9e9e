export type { EffectInPlan } from "../loop/context.js";
export type { Fence } from "../loop/fence.js";
export { type LogFields, silentLogger } from "../loop/logger.js";
export { type Action, describeCause } from "./cause.js";
export type { Cluster } from "./cluster.js";
export type {
  ApplyOptions as ChildOptions,
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
  ReconcileResult,
  ScopedKind,
  WatchDeclaration,
  WriteVerb,
} from "./controller.js";
export { type ControllerPhase, ControllerRun, type ControllerStatus } from "./controller-run.js";
export { PAUSED_ANNOTATION, RECONCILE_NOW_ANNOTATION, STEP_ANNOTATION } from "./directives.js";
export type { ControllerEnvironment, ControllerObserver, EndedStep, StartedRun } from "./environment.js";
export type { EventRecorder, ObjectEvent } from "./event-recorder.js";
export { sweepFinalizers } from "./finalizer.js";
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
export { OWNER_ANNOTATION } from "./ownership.js";
export { describePlan, type PlannedRun } from "./planned-run.js";
export type { RbacRule } from "./rbac-rule.js";
export { SecretMask, type SecretMaskOptions } from "./secret-mask.js";
export type { SecretOptions } from "./secret-policy.js";
export { type RunRecord, Timeline, type TimelineFilter, type WriteRecord } from "./timeline.js";
export { type Span, type SpanContext, type Tracer, Traces } from "./traces.js";
export {
  type FailedStep,
  opinionatedSupersede,
  type SupersedePolicy,
  supersedeAll,
  type WatchStep,
} from "./watcher.js";
export { WatcherRun } from "./watcher-run.js";
