import type { App } from "../app/app.js";
import type { Loop } from "../controller/loop.js";
import { SetpointError } from "../errors/error.js";
import { shown } from "../loop/outcome.js";

const TYPES: readonly unknown[] = ["controller", "watcher", "app"] satisfies (Loop | App)["type"][];

/** Throws `CONTROLLER_INVALID` for what cannot run: a kind, a function, or undefined because of a circular import. */
export function checkLoop(loop: Loop | App | undefined): void {
  if (TYPES.includes(loop?.type)) return;
  const hint = loop === undefined ? "; a circular import can cause this" : "";
  const message = `${shown(loop)} is not a controller(…), watcher(…) or app(…)${hint}`;
  throw new SetpointError("CONTROLLER_INVALID", message);
}

/** `controller websites`: unique in a process. */
export function idOf({ type, name }: Loop): string {
  return `${type} ${name}`;
}

/** Controllers and watchers, those of apps included. */
export function loopsOf(loops: readonly (Loop | App)[]): readonly Loop[] {
  return loops.flatMap((each) => (each.type === "app" ? each.loops : [each]));
}

export function appsOf(loops: readonly (Loop | App)[]): readonly App[] {
  return loops.filter((each) => each.type === "app");
}
