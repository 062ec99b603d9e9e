import type { App } from "../app/app.js";
import type { Controller } from "../controller/controller.js";
import type { Watcher } from "../controller/watcher.js";

/** A control loop: a controller or watcher of any kind. */
// biome-ignore lint/suspicious/noExplicitAny: kinds differ from one to the next
export type Workload = Controller<any> | Watcher<any>;

/** What a manager runs: loops by themselves, or apps with all that is theirs. */
export type Part = Workload | App;

export function workloadsOf(parts: readonly Part[]): readonly Workload[] {
  return parts.flatMap((part) => (part.type === "app" ? part.workloads : [part]));
}

export function appsOf(parts: readonly Part[]): readonly App[] {
  return parts.filter((part) => part.type === "app");
}
