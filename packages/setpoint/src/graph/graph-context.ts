import type { LoopContext } from "../loop/context.js";
import type { GraphCause } from "./graph-cause.js";
import type { GraphEditor } from "./graph-editor.js";
import type { GraphResource, ResourceName } from "./resource.js";

/**
 * The context of a graph reconciler in one run. `effect`, `signal`, `log` and `causes` are those of controllers.
 * `signal` is aborted when somebody else updates or deletes the resource, when a resource above it gets work, on
 * timeout, when the graph closes, and when another process has opened the store.
 */
export interface GraphContext<State = unknown> extends LoopContext<GraphCause> {
  /** Writes the state of this run's resource, even after the run was cancelled. Only the run can write it. */
  updateState(state: State): void;
  /** A resource, even this one if it is deleted. */
  get(name: ResourceName): GraphResource | undefined;
  /** The existing refs, sorted by name. */
  refs(): readonly GraphResource[];
  /**
   * Ends the run as terminal if a ref is missing, has failed or is cyclic. The error names the ref, and the resource
   * whose failure caused it. The run repeats when that ref has finished.
   */
  requireRefs(): void;
  /** Edits on behalf of this run: updates of its own resource neither cancel nor repeat it. */
  readonly graph: GraphEditor;
}
