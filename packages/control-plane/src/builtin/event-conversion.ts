import type { KubeObject } from "setpoint";
import type { UntypedObject } from "setpoint/kinds";
import type { JsonObject } from "../api/json.js";
import type { Conversion } from "../kinds/resource-definition.js";

/** The same events in two groups: `events.k8s.io/v1` renames half of the fields of `v1`. */
const RENAMED: readonly (readonly [core: string, events: string])[] = [
  ["involvedObject", "regarding"],
  ["message", "note"],
  ["source", "deprecatedSource"],
  ["firstTimestamp", "deprecatedFirstTimestamp"],
  ["lastTimestamp", "deprecatedLastTimestamp"],
  ["count", "deprecatedCount"],
  ["reportingComponent", "reportingController"],
];

const BACK = RENAMED.map(([core, events]) => [events, core] as const);

/** An event of either group, with the field names of `v1`. */
export function toCoreEvent(event: JsonObject): JsonObject {
  return renamed(event as unknown as KubeObject, "v1", BACK) as unknown as JsonObject;
}

export const eventConversion: Conversion = {
  toServed: async (objects) => objects.map((object) => renamed(object, "events.k8s.io/v1", RENAMED)),
  toStored: async (objects) => objects.map((object) => renamed(object, "v1", BACK)),
};

function renamed(object: KubeObject, apiVersion: string, names: readonly (readonly [string, string])[]): KubeObject {
  const map = new Map(names);
  const fields = Object.entries(object as UntypedObject).map(([field, value]) => [map.get(field) ?? field, value]);
  return { ...Object.fromEntries(fields), apiVersion } as KubeObject;
}
