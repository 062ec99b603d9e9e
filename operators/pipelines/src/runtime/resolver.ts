import { systemClock } from "setpoint/clock";
import type { QueryResult } from "../engine/engine.js";
import { PipelinesError } from "../errors.js";
import type { ModelSpec } from "../model/model-spec.js";
import type { Project } from "../project/project.js";
import { sourceText } from "../project/source-text.js";
import { quoted, renderText } from "../template/render-text.js";

/** A query for one resolver. */
export interface ResolverRequest {
  readonly resolver: string;
  readonly properties: Readonly<Record<string, unknown>>;
  /** Attributes of the querying user: `.user` in templates. */
  readonly user?: Readonly<Record<string, unknown>>;
  readonly limit?: number;
}

/** What a resolver needs to answer a query. */
export interface Asked {
  /** The project. Read only if the query is a template. */
  readonly project: Project | Promise<Project>;
  query(sql: string, options: { readonly signal: AbortSignal; readonly limit?: number }): Promise<QueryResult>;
}

/** Resolvers of Rill that are not supported yet: they need metrics views, APIs and similar resources. */
const NOT_YET = ["metrics_sql", "metrics", "metrics_summary", "api", "glob", "resource_status", "legacy_metrics", "ai"];

/**
 * Answers a query. Rejects with `PIPELINES_RESOLVER_UNKNOWN`, or with `PIPELINES_REQUEST_INVALID` and the name of the
 * field.
 */
export async function resolve(asked: Asked, request: ResolverRequest, signal: AbortSignal): Promise<QueryResult> {
  const { resolver, properties, limit } = request;
  if (NOT_YET.includes(resolver)) {
    throw new PipelinesError("PIPELINES_RESOLVER_UNKNOWN", `the resolver ${resolver} is not supported yet; use sql`);
  }
  if (resolver !== "sql") {
    throw new PipelinesError("PIPELINES_RESOLVER_UNKNOWN", `there is no resolver ${resolver}; use sql`);
  }
  const { sql } = properties;
  if (typeof sql !== "string" || sql.trim() === "") throw invalid("properties.sql must be a statement");
  const statement = sql.includes("{{") ? rendered(sql, request, await asked.project) : sql;
  return asked.query(statement, { signal, ...(limit === undefined ? {} : { limit }) });
}

/** Renders the SQL. Templates see the project's variables, the querying user and `properties.args`. */
function rendered(sql: string, { properties, user = {} }: ResolverRequest, { settings, resources }: Project): string {
  const { args } = properties;
  const tableOf = (name: string): string | undefined => {
    const isMeant = (one: Project["resources"][number]): boolean =>
      one.name.kind === "Model" && one.name.name.toLowerCase() === name.toLowerCase();
    return (resources.find(isMeant)?.spec as ModelSpec | undefined)?.output.table;
  };
  return renderText(sourceText("properties.sql", sql), {
    environment: settings.environment,
    variables: settings.variables,
    user,
    args: args === undefined ? {} : objectAt(args, "properties.args"),
    ref: (name) => quoted(tableOf(name) ?? name),
    now: new Date(systemClock.now()),
  }).text;
}

/** Checks a query that came as JSON. */
export function resolverRequest(given: unknown): ResolverRequest {
  const { resolver = "sql", properties, user, limit } = objectAt(given, "the request");
  if (typeof resolver !== "string") throw invalid("resolver must be a text");
  if (limit !== undefined && (!Number.isInteger(limit) || (limit as number) < 0)) {
    throw invalid("limit must be a whole number of at least 0");
  }
  return {
    resolver,
    properties: objectAt(properties, "properties"),
    ...(user === undefined ? {} : { user: objectAt(user, "user") }),
    ...(limit === undefined ? {} : { limit: limit as number }),
  };
}

export function objectAt(value: unknown, place: string): Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw invalid(`${place} must be an object`);
  return value as Readonly<Record<string, unknown>>;
}

function invalid(message: string): PipelinesError {
  return new PipelinesError("PIPELINES_REQUEST_INVALID", message);
}
