import { compareQuantities, matchesLabels } from "setpoint";
import type { PersistentVolume, PersistentVolumeClaim } from "setpoint/kinds/v1";

/** Whether a volume is a claim's already, by its reference. */
export function isReservedFor({ spec }: PersistentVolume, { metadata }: PersistentVolumeClaim): boolean {
  const { claimRef } = spec ?? {};
  if (claimRef?.name !== metadata.name || claimRef.namespace !== metadata.namespace) return false;
  return claimRef.uid === undefined || claimRef.uid === metadata.uid;
}

/** The smallest free volume that a claim can have; one that is reserved for it comes first. */
export function matchingVolume(
  claim: PersistentVolumeClaim,
  volumes: readonly PersistentVolume[],
): PersistentVolume | undefined {
  const reserved = volumes.find((volume) => isReservedFor(volume, claim));
  if (reserved) return reserved;
  const fitting = volumes.filter((volume) => !volume.spec?.claimRef && fits(claim, volume));
  return fitting.sort((left, right) => compareQuantities(sizeOf(left), sizeOf(right)) || byName(left, right))[0];
}

function fits(claim: PersistentVolumeClaim, volume: PersistentVolume): boolean {
  const { accessModes = [], selector, storageClassName = "", volumeMode = "Filesystem", volumeName } = claim.spec ?? {};
  const { spec, metadata } = volume;
  if (metadata.deletionTimestamp) return false;
  if (volumeName) return volumeName === metadata.name;
  return (
    (spec?.storageClassName ?? "") === storageClassName &&
    (spec?.volumeMode ?? "Filesystem") === volumeMode &&
    accessModes.every((mode) => spec?.accessModes?.includes(mode)) &&
    (!selector || matchesLabels(selector, metadata.labels)) &&
    compareQuantities(sizeOf(volume), requestOf(claim)) >= 0
  );
}

export function sizeOf({ spec }: PersistentVolume): string {
  return String(spec?.capacity?.storage ?? "0");
}

export function requestOf({ spec }: PersistentVolumeClaim): string {
  return String(spec?.resources?.requests?.storage ?? "0");
}

function byName(left: PersistentVolume, right: PersistentVolume): number {
  return left.metadata.name < right.metadata.name ? -1 : 1;
}
