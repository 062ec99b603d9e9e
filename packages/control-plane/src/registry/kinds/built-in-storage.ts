import type { Conversion, ResourceDefinition } from "../resource-definition.js";
import { autoscalerConversion } from "./autoscaler-conversion.js";
import { eventConversion } from "./event-conversion.js";

interface Row {
  readonly storageId: string;
  readonly storageVersion: string;
  readonly conversion: Conversion;
}

/** Resources that are kept in another version, or under another group, than the one that serves them. */
const ELSEWHERE: ReadonlyMap<string, Row> = new Map([
  ["events.k8s.io/v1/events", { storageId: "/events", storageVersion: "v1", conversion: eventConversion }],
  [
    "autoscaling/v1/horizontalpodautoscalers",
    { storageId: "autoscaling/horizontalpodautoscalers", storageVersion: "v2", conversion: autoscalerConversion },
  ],
]);

export function storageOf(
  group: string,
  version: string,
  plural: string,
): Pick<ResourceDefinition, "storageId" | "storageVersion"> {
  const row = ELSEWHERE.get(`${group}/${version}/${plural}`);
  if (row === undefined) return { storageId: `${group}/${plural}`, storageVersion: version };
  return { storageId: row.storageId, storageVersion: row.storageVersion };
}

export function conversionOf(group: string, version: string, plural: string): Conversion | undefined {
  return ELSEWHERE.get(`${group}/${version}/${plural}`)?.conversion;
}
