import {
  describeGraphCause,
  type Explanation,
  type GraphResource,
  type ResourceName,
  resourceKey,
} from "setpoint/graph";
import type { Problem } from "../project/source-text.js";
import type { Pipelines } from "./pipelines.js";

/** One resource as clients of the HTTP API read it. Plain JSON, without SQL and without secrets. */
export interface ResourceView {
  readonly kind: string;
  readonly name: string;
  readonly status: string;
  readonly refs: readonly { readonly kind: string; readonly name: string }[];
  readonly paths: readonly string[];
  readonly error?: string;
  readonly warnings: readonly string[];
  /** Why it was last run, or left as it is. */
  readonly reason?: string;
  readonly rows?: number;
  /** Wall time in milliseconds. */
  readonly builtOn?: number;
  readonly durationMs?: number;
  readonly outputVersion?: string;
  readonly runAgainOn?: number;
  readonly version: number;
}

/** The fields of a model's state that are shown. */
interface SeenState {
  readonly action?: string;
  readonly reason?: string;
  readonly cause?: string;
  readonly rows?: number;
  readonly builtOn?: number;
  readonly durationMs?: number;
}

export function resourceView(resource: GraphResource, brokenBy?: Problem): ResourceView {
  const { meta, status, error, warnings, outputVersion, runAgainOn } = resource;
  const { reason, rows, builtOn, durationMs } = (resource.state ?? {}) as SeenState;
  const message = brokenBy ? problemText(brokenBy) : error?.message;
  return {
    kind: meta.name.kind,
    name: meta.name.name,
    status,
    refs: meta.refs,
    paths: meta.paths,
    ...(message === undefined ? {} : { error: message }),
    warnings,
    ...(reason === undefined ? {} : { reason }),
    ...(rows === undefined ? {} : { rows }),
    ...(builtOn === undefined ? {} : { builtOn }),
    ...(durationMs === undefined ? {} : { durationMs }),
    ...(outputVersion === undefined ? {} : { outputVersion }),
    ...(runAgainOn === undefined ? {} : { runAgainOn }),
    version: meta.version,
  };
}

export function resourceViews(pipelines: Pipelines): readonly ResourceView[] {
  const broken = new Map(pipelines.project.broken.map(({ name, problem }) => [resourceKey(name), problem]));
  return pipelines.graph.list().map((resource) => resourceView(resource, broken.get(resourceKey(resource.meta.name))));
}

/** Why a resource ran, why it did not, and what it waits for. */
export interface ExplanationView {
  readonly kind: string;
  readonly name: string;
  readonly status: string;
  /** One sentence. */
  readonly reason: string;
  readonly error?: string;
  readonly causes: readonly string[];
  readonly waitsFor: Explanation["waitsFor"];
  /** The chain from a failed ref to the resource whose failure caused it. */
  readonly failedRefs: Explanation["failedRefs"];
  readonly rows?: number;
  readonly builtOn?: number;
  readonly durationMs?: number;
}

export function explanationView(pipelines: Pipelines, text: string): ExplanationView {
  const resource = pipelines.resource(text);
  const { name } = resource.meta;
  const explanation = pipelines.graph.explain(name)!;
  const problem = pipelines.project.broken.find((broken) => resourceKey(broken.name) === resourceKey(name))?.problem;
  const { reason: decided, rows, builtOn, durationMs, ...state } = (resource.state ?? {}) as SeenState;
  const why = decided === undefined ? "" : `${state.action === "none" ? withCause(decided, state) : decided}; `;
  const said = `${why}${explanation.reason}`;
  const reason = problem ? `its file has an error, so it stays unchanged: ${problemText(problem)}` : said;
  const error = resource.error?.message;
  const causes = explanation.causes.length > 0 ? explanation.causes : (explanation.lastRun?.causes ?? []);
  return {
    kind: name.kind,
    name: name.name,
    status: explanation.status,
    reason,
    ...(error === undefined ? {} : { error }),
    causes: causes.map(describeGraphCause),
    waitsFor: explanation.waitsFor,
    failedRefs: explanation.failedRefs,
    ...(rows === undefined ? {} : { rows }),
    ...(builtOn === undefined ? {} : { builtOn }),
    ...(durationMs === undefined ? {} : { durationMs }),
  };
}

/** `…; it last ran because its definition has changed` */
export function withCause(reason: string, state: unknown): string {
  const { cause } = (state ?? {}) as SeenState;
  return cause === undefined ? reason : `${reason}; it last ran because ${cause}`;
}

/** The explanation of a resource while no process runs on its folder. */
export function storedExplanation(
  { kind, name }: ResourceName,
  stored: GraphResource | undefined,
  reason: string,
): ExplanationView {
  const { rows, builtOn, durationMs, cause } = (stored?.state ?? {}) as SeenState;
  const error = stored?.error?.message;
  return {
    kind,
    name,
    status: stored ? "idle" : "unknown",
    reason,
    ...(error === undefined ? {} : { error }),
    causes: cause === undefined ? [] : [cause],
    waitsFor: [],
    failedRefs: [],
    ...(rows === undefined ? {} : { rows }),
    ...(builtOn === undefined ? {} : { builtOn }),
    ...(durationMs === undefined ? {} : { durationMs }),
  };
}

/** `models/orders.sql:3:8: there is no column "x"` */
export function problemText({ message, place }: Problem): string {
  return place ? `${place.path}:${place.line}:${place.column}: ${message}` : message;
}
