import type { KubeObject } from "setpoint";
import { formatTime } from "setpoint/kinds";
import { asJson, isObject, type JsonObject } from "../api/json.js";
import type { Strategy } from "../kinds/strategy.js";

const SNAPSHOTS = "snapshot.storage.k8s.io";

/** What may be copied by the older of the two fields: another claim, or a snapshot. */
function isCopyable({ apiGroup, kind }: JsonObject): boolean {
  const group = apiGroup ?? "";
  return (group === "" && kind === "PersistentVolumeClaim") || (group === SNAPSHOTS && kind === "VolumeSnapshot");
}

/** `dataSource` and `dataSourceRef` say the same; where one is missing, the other stands in for it. */
function withBothSources(claim: KubeObject, old?: KubeObject): KubeObject {
  const spec = asJson(claim).spec;
  if (!isObject(spec)) return claim;
  const before = old && asJson(old).spec;
  const hadSource = isObject(before) && isObject(before.dataSource);
  const { dataSource, dataSourceRef, ...rest } = spec;
  const source = isObject(dataSource) && (hadSource || isCopyable(dataSource)) ? dataSource : undefined;
  // Sources in other namespaces are a feature that is off: who names one names nothing.
  const isAcross = isObject(dataSourceRef) && Boolean(dataSourceRef.namespace);
  const reference = isObject(dataSourceRef) && !isAcross ? dataSourceRef : undefined;
  const both = source ?? reference;
  if (both === undefined) return { ...claim, spec: rest } as KubeObject;
  return { ...claim, spec: { ...rest, dataSource: source ?? both, dataSourceRef: reference ?? both } } as KubeObject;
}

export const claimPreparation: Pick<Strategy, "prepareCreate" | "prepareUpdate"> = {
  prepareCreate: (claim) => ({ ...withBothSources(claim), status: { phase: "Pending" } }) as KubeObject,
  prepareUpdate: (claim, old, { subresource }) => (subresource === "" ? withBothSources(claim, old) : claim),
};

export const volumePreparation: Pick<Strategy, "prepareCreate" | "prepareUpdate"> = {
  prepareCreate: (volume, { nowMs }) =>
    ({ ...volume, status: { phase: "Pending", lastPhaseTransitionTime: formatTime(nowMs) } }) as KubeObject,
  prepareUpdate: (volume, old, { subresource, nowMs }) => {
    if (subresource !== "status") return volume;
    const [status, before] = [volume, old].map((each) => (asJson(each).status ?? {}) as JsonObject);
    const { phase, lastPhaseTransitionTime: time } = status!;
    const isMoved = phase !== before!.phase && (time === undefined || time === before!.lastPhaseTransitionTime);
    const lastPhaseTransitionTime = isMoved ? formatTime(nowMs) : (time ?? before!.lastPhaseTransitionTime);
    if (lastPhaseTransitionTime === undefined) return volume;
    return { ...volume, status: { ...status, lastPhaseTransitionTime } } as KubeObject;
  },
};
