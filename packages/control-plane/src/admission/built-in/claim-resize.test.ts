import { describe, expect, it } from "vitest";
import { TestPlane } from "../../registry/plane.testing.js";
import type { AdmissionAttributes } from "../../registry/write/admission.js";
import { claimResize } from "./claim-resize.js";

const claim = (storage: string, phase: string, storageClassName = "grows") => ({
  apiVersion: "v1",
  kind: "PersistentVolumeClaim",
  metadata: { name: "a", namespace: "default" },
  spec: { storageClassName, resources: { requests: { storage } } },
  status: { phase },
});

async function grow(phase: string, allowVolumeExpansion: boolean): Promise<string> {
  await using plane = await TestPlane.start();
  const metadata = { name: "grows" };
  const body = { metadata, provisioner: "p", allowVolumeExpansion };
  await plane.request("POST", "/apis/storage.k8s.io/v1/storageclasses", { body });
  const definition = plane.registry.environment.catalog.find("", "v1", "persistentvolumeclaims")!;
  const attributes = {
    operation: "UPDATE",
    definition,
    subresource: "",
    name: "a",
    object: claim("2Gi", phase),
    oldObject: claim("1Gi", phase),
  } as unknown as AdmissionAttributes;
  return claimResize(plane.storage).validate!(attributes, () => {}).then(
    () => "allowed",
    (error: Error) => error.message,
  );
}

describe("a claim that is expanded", () => {
  it("must be bound", async () => {
    expect(await grow("Pending", true)).toBe(
      'persistentvolumeclaims "a" is forbidden: Only bound persistent volume claims can be expanded',
    );
  });

  it("grows if its class allows it", async () => {
    expect(await grow("Bound", true)).toBe("allowed");
    expect(await grow("Bound", false)).toContain("the storageclass that provisions the pvc must support resize");
  });
});
