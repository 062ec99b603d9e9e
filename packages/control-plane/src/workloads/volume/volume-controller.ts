import { type Client, type Controller, controller, isAlreadyExists, isNotFound } from "setpoint";
import { formatTime } from "setpoint/kinds";
import { StorageClass } from "setpoint/kinds/storage.k8s.io/v1";
import { PersistentVolume, PersistentVolumeClaim } from "setpoint/kinds/v1";
import type { WorkloadEnvironment } from "../workloads.js";

const VOLUME_PROTECTION = "kubernetes.io/pv-protection";
const FIRST_CLASS = "standard";

/** Creates a default storage class in a control plane without any, so that claims can be provisioned. */
export async function ensureStorageClass(client: Client): Promise<void> {
  const { items } = await client.list(StorageClass, { limit: 1 });
  if (items.length > 0) return;
  const annotations = { "storageclass.kubernetes.io/is-default-class": "true" };
  try {
    await client.create(StorageClass, {
      metadata: { name: FIRST_CLASS, annotations },
      provisioner: "simulation.setpoint.dev/volumes",
      volumeBindingMode: "Immediate",
      allowVolumeExpansion: true,
    });
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
}

/** Updates the phase of volumes, and deletes released ones if their reclaim policy says so. */
export function volumeController({ clock }: WorkloadEnvironment): Controller<PersistentVolume> {
  return controller(PersistentVolume, {
    name: "persistentvolumes",
    uses: [PersistentVolumeClaim],
    writes: ["patch", "delete"],
    fieldManager: "kube-controller-manager",
    retry: { attempts: Number.MAX_SAFE_INTEGER },
    async reconcile(volume, ctx) {
      const { claimRef, persistentVolumeReclaimPolicy: policy } = volume.spec ?? {};
      const { name, uid } = volume.metadata;
      let phase: "Available" | "Bound" | "Released" = "Available";
      if (claimRef?.uid !== undefined) {
        const claim = await ctx.find(PersistentVolumeClaim, claimRef.name!, { namespace: claimRef.namespace! });
        phase = claim?.metadata.uid === claimRef.uid ? "Bound" : "Released";
      }
      if (phase !== volume.status?.phase) ctx.status({ phase, lastPhaseTransitionTime: formatTime(clock.now()) });
      if (phase === "Released" && policy === "Delete") {
        await ctx.delete(PersistentVolume, name, { preconditions: { uid } });
      }
    },
    /** A bound volume stays until its claim is gone. */
    async deleting(volume, ctx) {
      const { name, uid, finalizers = [] } = volume.metadata;
      const { claimRef } = volume.spec ?? {};
      if (!finalizers.includes(VOLUME_PROTECTION)) return;
      if (claimRef?.uid !== undefined) {
        const claim = await ctx.find(PersistentVolumeClaim, claimRef.name!, { namespace: claimRef.namespace! });
        if (claim?.metadata.uid === claimRef.uid) return;
      }
      const left = finalizers.filter((finalizer) => finalizer !== VOLUME_PROTECTION);
      try {
        await ctx.patch(PersistentVolume, name, { type: "merge", body: { metadata: { uid, finalizers: left } } });
      } catch (error) {
        if (!isNotFound(error)) throw error;
      }
    },
  });
}
