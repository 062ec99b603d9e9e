export { ExternalInformer, type ExternalInformerOptions } from "./external/external-informer.js";
export type {
  HandlerOptions,
  HandlerRegistration,
  IndexFunction,
  Informer,
  InformerEvent,
  InformerHandler,
  InformerPhase,
  InformerScope,
  InformerStatus,
} from "./informer.js";
export { type InformerRequest, type InformerShare, Informers, type InformersOptions } from "./informers.js";
export type { ReflectorOptions } from "./reflector/reflector.js";
export type { WatchErrorType, WatchTally } from "./reflector/watch-tally.js";
export type { Projection } from "./retention.js";
export type { InformerOptions } from "./shared-informer.js";
export type { BodyStore, BodyStoreOptions, StoredBody } from "./store/body-store.js";
export type { ListSelection } from "./store/selection.js";
export type { StoreOptions } from "./store/store.js";
