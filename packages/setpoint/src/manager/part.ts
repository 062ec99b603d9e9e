import type { App } from "../app/app.js";
import type { Controller } from "../controller/controller.js";
import type { Watcher } from "../controller/watcher.js";
import { SetpointError } from "../errors/error.js";
import { shown } from "../loop/outcome.js";

/** A control loop: a controller or watcher of any kind. */
// biome-ignore lint/suspicious/noExplicitAny: kinds differ from one to the next
export type Workload = Controller<any> | Watcher<any>;

/** What a manager runs: loops by themselves, or apps with all that is theirs. */
export type Part = Workload | App;

const PART_TYPES: readonly unknown[] = ["controller", "watcher", "app"] satisfies Part["type"][];

/** Throws `CONTROLLER_INVALID` for what nothing can run: a kind, a function, what imports in a circle left undefined. */
export function checkPart(part: Part | undefined): void {
  if (PART_TYPES.includes(part?.type)) return;
  const hint = part === undefined ? "; modules that import each other in a circle leave it so" : "";
  const message = `${shown(part)} is no controller(…), watcher(…) or app(…)${hint}`;
  throw new SetpointError("CONTROLLER_INVALID", message);
}

export function workloadsOf(parts: readonly Part[]): readonly Workload[] {
  return parts.flatMap((part) => (part.type === "app" ? part.workloads : [part]));
}

export function appsOf(parts: readonly Part[]): readonly App[] {
  return parts.filter((part) => part.type === "app");
}
