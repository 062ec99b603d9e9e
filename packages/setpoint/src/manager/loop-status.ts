import type { Loop } from "../controller/loop.js";
import type { ControllerStatus } from "../controller/run/controller-status.js";
import { kindId } from "../kinds/kind.js";
import type { Resource } from "../kinds/resource.js";
import { controllerTrouble } from "./endpoints/health.js";

/** The status of one loop, for `setpoint why`. */
export interface LoopStatus {
  readonly type: Loop["type"];
  readonly name: string;
  /** `apps/v1/Deployment`. */
  readonly kind: string;
  readonly plural: string;
  readonly shortNames: readonly string[];
  /** False while another process leads and reconciles the objects. */
  readonly isLeading: boolean;
  /** Why it cannot work; empty if it can. */
  readonly trouble: readonly string[];
}

/** The status of each loop of a process; `unstarted` has the ids of those that could not start, with the reasons. */
export function loopStatuses(
  loops: ReadonlyMap<string, { readonly loop: Loop; readonly run: { status(): Pick<ControllerStatus, "informers"> } }>,
  unstarted: ReadonlyMap<string, string>,
  isLeading: boolean,
  mask: (text: string) => string,
): readonly LoopStatus[] {
  return [...loops].map(([id, { loop, run }]) => {
    const { type, name, kind } = loop;
    const { declaration } = kind as Partial<Resource>;
    const failed = unstarted.get(id);
    const trouble = [...(failed === undefined ? [] : [failed]), ...controllerTrouble([run.status()])].map(mask);
    const shortNames = declaration?.options.shortNames ?? [];
    return { type, name, kind: kindId(kind), plural: kind.plural, shortNames, isLeading, trouble };
  });
}
