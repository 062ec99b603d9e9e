import type { KubeObject } from "setpoint";
import type { JsonObject } from "../api/json.js";
import type { Facts, ResourceFacts } from "../facts/facts.js";
import { apiVersionOf } from "../kinds/catalog.js";
import type { Conversion, ResourceDefinition } from "../kinds/resource-definition.js";
import { autoscalerConversion } from "./autoscaler-conversion.js";
import { eventConversion } from "./event-conversion.js";

interface Row {
  readonly storageId: string;
  readonly storageVersion: string;
  readonly conversion: Conversion;
}

/** Resources that are stored in another version or group than the one that serves them. */
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

/** The conversion of such a resource. Its results have the form that Go writes. */
export function conversionOf(
  facts: Facts,
  group: string,
  version: string,
  resource: ResourceFacts,
): Conversion | undefined {
  const row = ELSEWHERE.get(`${group}/${version}/${resource.plural}`);
  if (row === undefined) return undefined;
  const { conversion, storageId, storageVersion } = row;
  const storageGroup = storageId.slice(0, storageId.indexOf("/"));
  const canonical = async (apiVersion: string, objects: readonly KubeObject[]): Promise<readonly KubeObject[]> => {
    // Loaded on demand, because these are rarely requested.
    const { decodeStruct } = await import("../schema/go-decoding.js");
    const message = facts.messageOf(apiVersion, resource.kind)!;
    return objects.map(
      (object) => decodeStruct(message, object as unknown as JsonObject).object as unknown as KubeObject,
    );
  };
  const served = apiVersionOf({ group, version });
  const stored = apiVersionOf({ group: storageGroup, version: storageVersion });
  return {
    toServed: async (objects, signal) => canonical(served, await conversion.toServed(objects, signal)),
    toStored: async (objects, signal) => canonical(stored, await conversion.toStored(objects, signal)),
  };
}
