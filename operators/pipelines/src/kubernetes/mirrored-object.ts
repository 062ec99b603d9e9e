import type { NewCondition } from "setpoint";
import type { GraphResource } from "setpoint/graph";
import type { Problem } from "../project/source-text.js";
import { problemText } from "../runtime/resource-view.js";
import type { MirroredSpec, MirroredStatus } from "./mirrored-kind.js";

/** The spec of a resource's object. Plain JSON, so that it compares equal to what the server returns. */
export function desiredSpec({ meta, spec }: GraphResource): MirroredSpec {
  const declaration = typeof spec === "object" && spec !== null ? spec : { value: spec };
  return JSON.parse(
    JSON.stringify({
      name: meta.name.name,
      paths: meta.paths,
      refs: meta.refs.map(({ kind, name }) => ({ kind, name })),
      declaration,
    }),
  ) as MirroredSpec;
}

interface SeenState {
  readonly rows?: number;
  readonly builtOn?: number;
  readonly durationMs?: number;
  readonly runId?: string;
}

export function desiredStatus({ state, outputVersion }: GraphResource): Omit<MirroredStatus, "conditions"> {
  const { rows, builtOn, durationMs, runId } = (state ?? {}) as SeenState;
  return {
    ...(rows === undefined ? {} : { rows }),
    ...(builtOn === undefined ? {} : { builtOn: new Date(builtOn).toISOString() }),
    ...(durationMs === undefined ? {} : { durationMs: Math.round(durationMs) }),
    ...(outputVersion === undefined ? {} : { outputVersion }),
    ...(runId === undefined ? {} : { runId }),
  };
}

/** `Ready` is True exactly if the table matches its file. */
export function readyCondition(
  { status, error }: GraphResource,
  problem: Problem | undefined,
): Omit<NewCondition, "observedGeneration"> {
  const not = (reason: string, message: string) => ({ type: "Ready", status: "False", reason, message }) as const;
  if (problem) return not("FileInvalid", problemText(problem));
  if (error) return not(error.code === "GRAPH_REF_FAILED" ? "DependencyFailed" : "Failed", error.message);
  if (status === "idle") return { type: "Ready", status: "True", reason: "Fresh", message: "it matches its file" };
  if (status === "running") return not("Running", "a run is in progress");
  return not("Pending", "a run is pending");
}
