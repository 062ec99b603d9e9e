export type { BodyStore, BodyStoreOptions, StoredBody } from "./body-store.js";
export { ExternalInformer, type ExternalInformerOptions } from "./external-informer.js";
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
export type { ReflectorOptions } from "./reflector.js";
export type { Projection } from "./retention.js";
export type { ListSelection } from "./selection.js";
export type { InformerOptions } from "./shared-informer.js";
export type { StoreOptions } from "./store.js";
export type { WatchErrorType, WatchTally } from "./watch-tally.js";
