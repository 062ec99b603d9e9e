import type { KubeObject } from "setpoint";
import type { AdmissionPlugin } from "../../registry/write/admission.js";
import { quantityNanos } from "../../schema/quantity.js";
import type { Storage } from "../../storage/storage.js";
import { refused } from "./kind-admission.js";

interface Claim extends KubeObject {
  readonly spec?: {
    readonly storageClassName?: string;
    readonly resources?: { readonly requests?: { readonly storage?: string } };
  };
  readonly status?: { readonly phase?: string };
}

interface StorageClass extends KubeObject {
  readonly allowVolumeExpansion?: boolean;
}

/** The plugin PersistentVolumeClaimResize: a claim can grow only if it is bound and its class allows expansion. */
export function claimResize(storage: Storage): AdmissionPlugin {
  return {
    name: "PersistentVolumeClaimResize",
    concerns: ({ definition }) => definition.storageId === "/persistentvolumeclaims",
    async validate(attributes) {
      const { definition, operation, subresource } = attributes;
      if (definition.storageId !== "/persistentvolumeclaims" || operation !== "UPDATE" || subresource !== "") return;
      const claim = attributes.object as Claim;
      const old = attributes.oldObject as Claim;
      if (sizeOf(claim) <= sizeOf(old)) return;
      if (old.status?.phase !== "Bound") {
        throw refused(attributes, "Only bound persistent volume claims can be expanded");
      }
      const [name, before] = [claim.spec?.storageClassName ?? "", old.spec?.storageClassName ?? ""];
      const chosen = storage.head("storage.k8s.io/storageclasses", name)?.object as StorageClass | undefined;
      if (name === before && chosen?.allowVolumeExpansion) return;
      const why =
        "only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize";
      throw refused(attributes, why);
    },
  };
}

function sizeOf({ spec }: Claim): bigint {
  const size = spec?.resources?.requests?.storage;
  return size === undefined ? 0n : quantityNanos(size);
}
