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
export type { ModelSpec } from "./model/model-spec.js";
export type { DeclaredResource, Project, ProjectSettings } from "./project/project.js";
export type { Place, Problem, SourceText } from "./project/source-text.js";
