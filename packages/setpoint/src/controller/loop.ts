import type { Controller } from "./controller.js";
import type { Watcher } from "./watcher.js";

/** What a process runs: a controller or a watcher of any kind. An app has several. */
// biome-ignore lint/suspicious/noExplicitAny: kinds differ from one to the next
export type Loop = Controller<any> | Watcher<any>;
