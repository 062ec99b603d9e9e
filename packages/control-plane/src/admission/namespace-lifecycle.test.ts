import type { KubeObject } from "setpoint";
import { systemClock } from "setpoint/clock";
import { describe, expect, it } from "vitest";
import type { StatusError } from "../api/status-error.js";
import type { AdmissionAttributes } from "../registry/write/admission.js";
import { MemoryStorage } from "../storage/memory-storage.js";
import { namespaceLifecycle } from "./namespace-lifecycle.js";

async function refusal(attributes: { operation: string; plural: string; namespace?: string; name?: string }) {
  const storage = new MemoryStorage({ clock: systemClock });
  for (const [name, phase] of [
    ["alive", "Active"],
    ["going", "Terminating"],
  ]) {
    const object = { metadata: { name }, status: { phase } } as unknown as KubeObject;
    await storage.commit({ resource: "/namespaces", key: name!, expected: undefined, object });
  }
  const { operation, plural, namespace = "", name = "a" } = attributes;
  const definition = { group: plural.startsWith("local") ? "authorization.k8s.io" : "", plural };
  const whole = { operation, definition, namespace, name, object: { metadata: { name } } };
  try {
    await namespaceLifecycle(storage).mutate?.(whole as unknown as AdmissionAttributes, () => {});
    return "allowed";
  } catch (error) {
    return (error as StatusError).status;
  }
}

describe("namespaceLifecycle", () => {
  it("protects the system namespaces", async () => {
    expect(await refusal({ operation: "DELETE", plural: "namespaces", name: "default" })).toMatchObject({
      code: 403,
      message: 'namespaces "default" is forbidden: this namespace may not be deleted',
    });
    expect(await refusal({ operation: "DELETE", plural: "namespaces", name: "alive" })).toBe("allowed");
  });

  it("lets objects be written only to an existing namespace", async () => {
    expect(await refusal({ operation: "CREATE", plural: "pods", namespace: "alive" })).toBe("allowed");
    expect(await refusal({ operation: "UPDATE", plural: "pods", namespace: "gone" })).toMatchObject({
      code: 404,
      message: 'namespaces "gone" not found',
    });
    expect(await refusal({ operation: "DELETE", plural: "pods", namespace: "gone" })).toBe("allowed");
    expect(await refusal({ operation: "CREATE", plural: "localsubjectaccessreviews", namespace: "gone" })).toBe(
      "allowed",
    );
  });

  it("lets nothing new into a terminating namespace", async () => {
    expect(await refusal({ operation: "UPDATE", plural: "pods", namespace: "going" })).toBe("allowed");
    expect(await refusal({ operation: "CREATE", plural: "pods", namespace: "going" })).toMatchObject({
      code: 403,
      message: 'pods "a" is forbidden: unable to create new content in namespace going because it is being terminated',
      details: {
        causes: [
          {
            reason: "NamespaceTerminating",
            message: "namespace going is being terminated",
            field: "metadata.namespace",
          },
        ],
      },
    });
  });
});
