import type { LoopContext } from "../loop/context.js";
import type { GraphCause } from "./graph-cause.js";
import type { GraphEditor } from "./graph-editor.js";
import type { GraphResource, ResourceName } from "./resource.js";

/**
 * What a reconciler of a graph works with in one run. `effect`, `signal`, `log` and `causes` are those of
 * controllers. `signal` is aborted when somebody else updates or deletes the resource, when something above it has work to
 * do, on timeout, at the end, and when another process has taken this one's place.
 */
export interface GraphContext<State = unknown> extends LoopContext<GraphCause> {
  /** Writes the state of this run's resource, even after the run was cancelled. Only the run can write it. */
  updateState(state: State): void;
  /** A resource, this one's deleted form included. */
  get(name: ResourceName): GraphResource | undefined;
  /** The refs that there are, by order of name. */
  refs(): readonly GraphResource[];
  /**
   * Ends the run as terminal where a ref is not there, has failed or is cyclic. The error names the ref, and the resource
   * whose failure led to it; the run repeats when that ref has finished.
   */
  requireRefs(): void;
  /** Edits in the name of this run: updates of its own resource neither cancel nor repeat it. */
  readonly graph: GraphEditor;
}
