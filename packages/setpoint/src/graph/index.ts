export type { Blocker, Explanation } from "./explain.js";
export { Graph, type GraphEvent, type GraphOptions, type ListFilter, openGraph } from "./graph.js";
export { describeGraphCause, type GraphCause } from "./graph-cause.js";
export type { GraphContext } from "./graph-context.js";
export type {
  BatchEditor,
  EditOptions,
  GraphEditor,
  MetaChange,
  NewResource,
  ReconcileOptions,
  Rest,
  Ticket,
} from "./graph-editor.js";
export {
  type GraphKind,
  type GraphKindOptions,
  type GraphReport,
  type GraphResult,
  type GraphSchema,
  graphKind,
} from "./graph-kind.js";
export type { GraphSession, GraphStore, StoreWrite } from "./graph-store.js";
export { memoryStore } from "./memory-store.js";
export {
  type GraphError,
  type GraphResource,
  type Key,
  type ResourceMeta,
  type ResourceName,
  type ResourceStatus,
  resourceKey,
} from "./resource.js";
export type { FinishedRun, GraphRecord, Weights } from "./state.js";
