export type * from "./client/client.js";
export type { Transport, TransportRequest, TransportResponse } from "./client/transport.js";
export type { Clock, Timer } from "./clock/clock.js";
export { type Duration, parseDuration } from "./clock/duration.js";
export { type Random, seededRandom, systemRandom } from "./clock/random.js";
export { systemClock } from "./clock/system-clock.js";
export { type TimeoutSignal, timeoutSignal } from "./clock/timeout-signal.js";
export { defineErrors, type ErrorEntry, isSetpointError, SetpointError } from "./errors/error.js";
export { type ErrorCode, errorRegistry } from "./errors/registry.js";
export type * from "./informer/informer.js";
export { type Kind, keyOf, kindId, type ObjectOf, parseKey, type Scope, type UntypedKind } from "./kinds/kind.js";
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
