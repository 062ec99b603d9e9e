import type { KubeObject } from "setpoint";
import { formatTime } from "setpoint/kinds";
import { asJson, isObject, type JsonObject } from "../api/json.js";
import type { Strategy } from "../kinds/strategy.js";

const SNAPSHOTS = "snapshot.storage.k8s.io";

/** What the older field `dataSource` may name: another claim or a snapshot. */
function isCopyable({ apiGroup, kind }: JsonObject): boolean {
  const group = apiGroup ?? "";
  return (group === "" && kind === "PersistentVolumeClaim") || (group === SNAPSHOTS && kind === "VolumeSnapshot");
}

/** `dataSource` and `dataSourceRef` mean the same. If one is missing, it is copied from the other. */
function withBothSources(claim: KubeObject, old?: KubeObject): KubeObject {
  const spec = asJson(claim).spec;
  if (!isObject(spec)) return claim;
  const before = old && asJson(old).spec;
  const hadSource = isObject(before) && isObject(before.dataSource);
  const { dataSource, dataSourceRef, ...rest } = spec;
  const source = isObject(dataSource) && (hadSource || isCopyable(dataSource)) ? dataSource : undefined;
  // Cross-namespace sources are a disabled feature, so such a reference is dropped.
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
