import type { KubeObject, UntypedObject } from "setpoint";
import type { Conversion } from "../resource-definition.js";

/** The same events under two groups: `events.k8s.io/v1` renames half of the fields of `v1`. */
const RENAMED: readonly (readonly [core: string, events: string])[] = [
  ["involvedObject", "regarding"],
  ["message", "note"],
  ["source", "deprecatedSource"],
  ["firstTimestamp", "deprecatedFirstTimestamp"],
  ["lastTimestamp", "deprecatedLastTimestamp"],
  ["count", "deprecatedCount"],
  ["reportingComponent", "reportingController"],
];

export const eventConversion: Conversion = {
  toServed: async (objects) => objects.map((object) => renamed(object, "events.k8s.io/v1", RENAMED)),
  toStored: async (objects) =>
    objects.map((object) =>
      renamed(
        object,
        "v1",
        RENAMED.map(([core, events]) => [events, core]),
      ),
    ),
};

function renamed(object: KubeObject, apiVersion: string, names: readonly (readonly [string, string])[]): KubeObject {
  const map = new Map(names);
  const fields = Object.entries(object as UntypedObject).map(([field, value]) => [map.get(field) ?? field, value]);
  return { ...Object.fromEntries(fields), apiVersion } as KubeObject;
}
