import { matchesLabels } from "setpoint/kinds";
import type { PersistentVolume, PersistentVolumeClaim } from "setpoint/kinds/v1";
import { compareQuantities } from "setpoint/quantity";

/** Whether the volume's claimRef names this claim. */
export function isReservedFor({ spec }: PersistentVolume, { metadata }: PersistentVolumeClaim): boolean {
  const { claimRef } = spec ?? {};
  if (claimRef?.name !== metadata.name || claimRef.namespace !== metadata.namespace) return false;
  return claimRef.uid === undefined || claimRef.uid === metadata.uid;
}

/** The smallest free volume that matches a claim. A usable volume reserved for the claim comes first. */
export function matchingVolume(
  claim: PersistentVolumeClaim,
  volumes: readonly PersistentVolume[],
): PersistentVolume | undefined {
  const { selector } = claim.spec ?? {};
  const isUsable = (volume: PersistentVolume): boolean =>
    !volume.metadata.deletionTimestamp && isLargeEnough(claim, volume) && isOfMode(claim, volume);
  const reserved = volumes.find((volume) => isReservedFor(volume, claim) && isUsable(volume));
  if (reserved) return reserved;
  const fitting = volumes.filter(
    (volume) =>
      !volume.spec?.claimRef &&
      (!selector || matchesLabels(selector, volume.metadata.labels)) &&
      mismatch(claim, volume) === undefined,
  );
  return fitting.sort((left, right) => compareQuantities(sizeOf(left), sizeOf(right)) || byName(left, right))[0];
}

/** Why a claim cannot bind a free volume, as kube-controller-manager words it. */
export function mismatch(claim: PersistentVolumeClaim, volume: PersistentVolume): string | undefined {
  const { accessModes = [], storageClassName = "", volumeAttributesClassName = "" } = claim.spec ?? {};
  const { spec, metadata } = volume;
  if (metadata.deletionTimestamp) return `the volume is marked for deletion ${JSON.stringify(metadata.name)}`;
  if (!isLargeEnough(claim, volume)) return "requested PV is too small";
  if ((spec?.storageClassName ?? "") !== storageClassName) return "storageClassName does not match";
  if ((spec?.volumeAttributesClassName ?? "") !== volumeAttributesClassName) {
    return "volumeAttributesClassName does not match";
  }
  if (!isOfMode(claim, volume)) return "incompatible volumeMode";
  const hasModes = accessModes.every((mode) => spec?.accessModes?.includes(mode));
  return hasModes ? undefined : "incompatible accessMode";
}

const isLargeEnough = (claim: PersistentVolumeClaim, volume: PersistentVolume): boolean =>
  compareQuantities(sizeOf(volume), requestOf(claim)) >= 0;

const isOfMode = ({ spec }: PersistentVolumeClaim, volume: PersistentVolume): boolean =>
  (spec?.volumeMode ?? "Filesystem") === (volume.spec?.volumeMode ?? "Filesystem");

export function sizeOf({ spec }: PersistentVolume): string {
  return String(spec?.capacity?.storage ?? "0");
}

export function requestOf({ spec }: PersistentVolumeClaim): string {
  return String(spec?.resources?.requests?.storage ?? "0");
}

function byName(left: PersistentVolume, right: PersistentVolume): number {
  return left.metadata.name < right.metadata.name ? -1 : 1;
}
