import {
  type Controller,
  controller,
  isAlreadyExists,
  isNotFound,
  type NewObject,
  requeueAfter,
  scoped,
} from "setpoint";
import { StorageClass } from "setpoint/kinds/storage.k8s.io/v1";
import { PersistentVolume, PersistentVolumeClaim, Pod } from "setpoint/kinds/v1";
import { compareQuantities } from "setpoint/quantity";
import { isPodOver } from "../pod/pod-state.js";
import { wholeStatus } from "../status-change.js";
import { isReservedFor, matchingVolume, mismatch, requestOf, sizeOf } from "./volume-match.js";

const CLAIM_PROTECTION = "kubernetes.io/pvc-protection";
const BOUND = "pv.kubernetes.io/bind-completed";
const BY_CONTROLLER = "pv.kubernetes.io/bound-by-controller";
const PROVISIONED = "pv.kubernetes.io/provisioned-by";
const PROVISIONER = "volume.kubernetes.io/storage-provisioner";
const IS_DEFAULT = "storageclass.kubernetes.io/is-default-class";
const NO_PROVISIONER = "kubernetes.io/no-provisioner";
const BY_CLAIM = "claim";
/** The volume of a bound claim is gone. The claim does not get another one. */
const LOST = "lost";

/** Binds claims to volumes, existing or provisioned by their storage class, and expands them. */
export function claimController(): Controller<PersistentVolumeClaim> {
  return controller(PersistentVolumeClaim, {
    name: "persistentvolumeclaims",
    uses: [
      scoped(PersistentVolume, { writes: ["create", "patch"] }),
      StorageClass,
      scoped(Pod, { namespaces: "all", indexes: { [BY_CLAIM]: claimsOf } }),
    ],
    writes: ["patch"],
    fieldManager: "kube-controller-manager",
    retry: { attempts: Number.MAX_SAFE_INTEGER },
    async reconcile(claim, ctx) {
      const { namespace = "", name } = claim.metadata;
      const className = claim.spec?.storageClassName ?? (await defaultClass());
      if (claim.spec?.storageClassName === undefined && className !== undefined) {
        await ctx.patch(PersistentVolumeClaim, name, merge({ spec: { storageClassName: className } }));
        return requeueAfter(0);
      }
      const storageClass = className ? await ctx.find(StorageClass, className) : undefined;
      const volume = await bound(storageClass);
      if (volume === LOST) {
        const message = "Bound claim has lost its PersistentVolume. Data on the volume is lost!";
        if (claim.status?.phase !== "Lost") ctx.event("Warning", "ClaimLost", message);
        return ctx.status(wholeStatus(claim.status, { phase: "Lost" }) as never);
      }
      if (!volume) return ctx.status(wholeStatus(claim.status, { phase: "Pending" }) as never);
      // For a bound claim, keep the capacity and conditions that the resizer reports.
      const said = claim.status?.phase === "Bound" ? claim.status : undefined;
      const capacity = (!isMadeBy(storageClass, volume) && said?.capacity) || { ...volume.spec?.capacity };
      const accessModes = volume.spec?.accessModes;
      ctx.status(wholeStatus(claim.status, { ...said, phase: "Bound", accessModes, capacity }) as never);
      return undefined;

      /** The volume of the claim, bound on both sides; undefined if there is none yet. */
      async function bound(
        storageClass: StorageClass | undefined,
      ): Promise<PersistentVolume | typeof LOST | undefined> {
        const { volumeName } = claim.spec ?? {};
        if (volumeName && claim.metadata.annotations?.[BOUND]) {
          const volume = await ctx.find(PersistentVolume, volumeName);
          return volume ? grown(volume, storageClass) : LOST;
        }
        const volumes = await ctx.list(PersistentVolume);
        const isEarly = !volumeName && !volumes.some((each) => isReservedFor(each, claim));
        if (isEarly && storageClass?.volumeBindingMode === "WaitForFirstConsumer" && !(await hasPod())) {
          ctx.event("Normal", "WaitForFirstConsumer", "waiting for first consumer to be created before binding");
          return undefined;
        }
        const volume = volumeName
          ? named(volumes.find(({ metadata }) => metadata.name === volumeName))
          : (matchingVolume(claim, volumes) ?? (await provisioned(storageClass)));
        if (!volume) return undefined;
        const { name: boundName } = volume.metadata;
        const { claimRef } = volume.spec ?? {};
        if (claimRef?.uid !== claim.metadata.uid) {
          const metadata = claimRef ? {} : { annotations: { [BY_CONTROLLER]: "yes" } };
          await ctx.patch(PersistentVolume, boundName, merge({ metadata, spec: { claimRef: referenceTo(claim) } }));
        }
        const annotations = { [BOUND]: "yes", ...(volumeName ? {} : { [BY_CONTROLLER]: "yes" }) };
        await ctx.patch(
          PersistentVolumeClaim,
          name,
          merge({ metadata: { annotations }, spec: { volumeName: boundName } }),
        );
        return volume;
      }

      /** The volume that the claim names, if the claim may bind it. Otherwise the claim waits. */
      function named(volume: PersistentVolume | undefined): PersistentVolume | undefined {
        if (!volume?.spec?.claimRef) {
          const why = volume && mismatch(claim, volume);
          if (why === undefined) return volume;
          const message = `Cannot bind to requested volume ${JSON.stringify(volume?.metadata.name)}: ${why}`;
          ctx.event("Warning", "VolumeMismatch", message);
          return undefined;
        }
        return isReservedFor(volume, claim) ? volume : undefined;
      }

      async function provisioned(storageClass: StorageClass | undefined): Promise<PersistentVolume | undefined> {
        if (!storageClass) {
          if (className)
            ctx.event("Warning", "ProvisioningFailed", `storageclass.storage.k8s.io "${className}" not found`);
          else
            ctx.event(
              "Normal",
              "FailedBinding",
              "no persistent volumes available for this claim and no storage class is set",
            );
          return undefined;
        }
        const { provisioner } = storageClass;
        if (provisioner === NO_PROVISIONER) return undefined;
        if (claim.metadata.annotations?.[PROVISIONER] !== provisioner) {
          await ctx.patch(
            PersistentVolumeClaim,
            name,
            merge({ metadata: { annotations: { [PROVISIONER]: provisioner } } }),
          );
        }
        const volume = newVolume(claim, storageClass);
        try {
          const made = await ctx.create(PersistentVolume, volume);
          ctx.event("Normal", "ProvisioningSucceeded", `Successfully provisioned volume ${made.metadata.name}`);
          return made;
        } catch (error) {
          if (!isAlreadyExists(error)) throw error;
          return ctx.find(PersistentVolume, volume.metadata.name!, { cached: false });
        }
      }

      async function hasPod(): Promise<boolean> {
        return (await ctx.byIndex(Pod, { [BY_CLAIM]: `${namespace}/${name}` })).length > 0;
      }

      /**
       * Expands the volume to the size of the claim, if its class permits and this control plane provisioned it.
       * Another provisioner expands its own volumes.
       */
      async function grown(
        volume: PersistentVolume,
        storageClass: StorageClass | undefined,
      ): Promise<PersistentVolume> {
        const storage = requestOf(claim);
        if (!storageClass?.allowVolumeExpansion || compareQuantities(storage, sizeOf(volume)) <= 0) return volume;
        if (!isMadeBy(storageClass, volume)) {
          ctx.event("Normal", "ExternalExpanding", "waiting for an external controller to expand this PVC");
          return volume;
        }
        const larger = await ctx.patch(
          PersistentVolume,
          volume.metadata.name,
          merge({ spec: { capacity: { storage } } }),
        );
        ctx.event("Normal", "VolumeResizeSuccessful", `Resize volume succeeded`);
        return larger;
      }

      async function defaultClass(): Promise<string | undefined> {
        const classes = await ctx.list(StorageClass);
        return classes.find(({ metadata }) => metadata.annotations?.[IS_DEFAULT] === "true")?.metadata.name;
      }
    },
    /** A claim stays until the pods that use it have ended. */
    async deleting(claim, ctx) {
      const { namespace = "", name, uid, finalizers = [] } = claim.metadata;
      if (!finalizers.includes(CLAIM_PROTECTION)) return;
      const users = await ctx.byIndex(Pod, { [BY_CLAIM]: `${namespace}/${name}` });
      if (users.some((pod) => pod.spec?.nodeName && !isPodOver(pod))) return;
      const left = finalizers.filter((finalizer) => finalizer !== CLAIM_PROTECTION);
      try {
        await ctx.patch(PersistentVolumeClaim, name, merge({ metadata: { uid, finalizers: left } }));
      } catch (error) {
        if (!isNotFound(error)) throw error;
      }
    },
  });
}

/** Whether this control plane provisioned the volume for its class. */
function isMadeBy(storageClass: StorageClass | undefined, { metadata }: PersistentVolume): boolean {
  return storageClass !== undefined && metadata.annotations?.[PROVISIONED] === storageClass.provisioner;
}

function claimsOf({ metadata, spec }: Pod): readonly string[] {
  const names = (spec?.volumes ?? []).flatMap(({ name, persistentVolumeClaim, ephemeral }) => {
    if (persistentVolumeClaim) return [persistentVolumeClaim.claimName];
    return ephemeral ? [`${metadata.name}-${name}`] : [];
  });
  return names.map((name) => `${metadata.namespace}/${name}`);
}

function newVolume(claim: PersistentVolumeClaim, storageClass: StorageClass): NewObject<PersistentVolume> {
  const { provisioner, reclaimPolicy = "Delete", mountOptions } = storageClass;
  const name = `pvc-${claim.metadata.uid}`;
  return {
    metadata: { name, annotations: { [PROVISIONED]: provisioner } },
    spec: {
      capacity: { storage: requestOf(claim) },
      accessModes: claim.spec?.accessModes ?? [],
      volumeMode: claim.spec?.volumeMode ?? "Filesystem",
      persistentVolumeReclaimPolicy: reclaimPolicy,
      storageClassName: storageClass.metadata.name,
      claimRef: referenceTo(claim),
      hostPath: { path: `/var/lib/simulated-volumes/${name}` },
      ...(mountOptions && { mountOptions }),
    },
  } as NewObject<PersistentVolume>;
}

function referenceTo({ metadata: { name, namespace, uid, resourceVersion } }: PersistentVolumeClaim) {
  return { apiVersion: "v1", kind: "PersistentVolumeClaim", namespace: namespace!, name, uid, resourceVersion };
}

function merge(body: object) {
  return { type: "merge", body: body as never } as const;
}
