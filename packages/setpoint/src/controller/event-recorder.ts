import type { KubeObject } from "../kinds/object.js";

/** An event for people who look at an object with kubectl. */
export interface ObjectEvent {
  readonly object: Pick<KubeObject, "apiVersion" | "kind" | "metadata">;
  readonly type: "Normal" | "Warning";
  /** One word in CamelCase. */
  readonly reason: string;
  readonly message: string;
}

/** Receives events. It writes, aggregates and drops them on its own. Must not throw. */
export interface EventRecorder {
  record(event: ObjectEvent): void;
}
