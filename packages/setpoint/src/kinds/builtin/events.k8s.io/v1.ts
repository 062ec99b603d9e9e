// Generated from the OpenAPI documents of Kubernetes 1.36.3 by tools/kinds/generate.mjs. Do not edit.
import type { Kind } from "../../kind.js";
import type { KubeObject, ObjectMeta } from "../../object.js";
import type * as core from "../v1.js";

/** Its fields: https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.36/#event-v1-events-k8s-io */
export interface Event extends KubeObject {
  readonly apiVersion: "events.k8s.io/v1";
  readonly kind: "Event";
  readonly metadata: ObjectMeta;
  readonly action?: string;
  readonly deprecatedCount?: number;
  readonly deprecatedFirstTimestamp?: string;
  readonly deprecatedLastTimestamp?: string;
  readonly deprecatedSource?: core.EventSource;
  readonly eventTime: string;
  readonly note?: string;
  readonly reason?: string;
  readonly regarding?: core.ObjectReference;
  readonly related?: core.ObjectReference;
  readonly reportingController?: string;
  readonly reportingInstance?: string;
  readonly series?: EventSeries;
  readonly type?: string;
}

/** Its fields: https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.36/#event-v1-events-k8s-io */
export const Event: Kind<Event, "Namespaced"> = {
  group: "events.k8s.io",
  version: "v1",
  kind: "Event",
  apiVersion: "events.k8s.io/v1",
  plural: "events",
  scope: "Namespaced",
};

export interface EventSeries {
  readonly count: number;
  readonly lastObservedTime: string;
}
