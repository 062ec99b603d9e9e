import type { KubeObject } from "../kinds/object.js";

/** Something worth telling those who look at an object with kubectl. */
export interface ObjectEvent {
  readonly object: Pick<KubeObject, "apiVersion" | "kind" | "metadata">;
  readonly type: "Normal" | "Warning";
  /** One word in CamelCase. */
  readonly reason: string;
  readonly message: string;
}

/** Takes events; writing, aggregating and dropping them is its own business. Must not throw. */
export interface EventRecorder {
  record(event: ObjectEvent): void;
}
