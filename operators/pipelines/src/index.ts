export { DuckDbEngine, type DuckDbOptions, openDuckDb } from "./engine/duckdb/duckdb-engine.js";
export type {
  Column,
  Engine,
  ParsedStatement,
  PartitionRecord,
  Publication,
  QueryResult,
  RefreshRequest,
  Stamp,
  TableFacts,
} from "./engine/engine.js";
export { PipelinesError, type PipelinesErrorCode, pipelinesErrors, type StatementPosition } from "./errors.js";
export { decideModel, type ModelAction, type ModelDecision, type ModelQuestion } from "./model/decide-model.js";
export { modelKind } from "./model/model.js";
export type { ConnectorSettings } from "./model/model-input.js";
export type { ModelServices } from "./model/model-services.js";
export type { ModelSpec } from "./model/model-spec.js";
export type { ModelState } from "./model/model-state.js";
export { staleModels } from "./model/stale-models.js";
export { type Declaration, type FileContext, type FileKind, fileKind, type NamedRef } from "./project/file-kind.js";
export { faultAt } from "./project/problem-error.js";
export type { DeclaredResource, Project, ProjectSettings } from "./project/project.js";
export type { ResourceFile } from "./project/resource-file.js";
export { integerAt, textAt } from "./project/setting.js";
export type { Place, Problem, SourceText } from "./project/source-text.js";
export { openPipelines, type PipelinesOptions, type ReadOptions, readProject } from "./runtime/open-pipelines.js";
export { Pipelines } from "./runtime/pipelines.js";
