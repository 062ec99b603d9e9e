import { describe, expect, it } from "vitest";
import { differingPaths } from "./applied-fields.js";

const claim = { metadata: { name: "data" }, spec: { accessModes: ["ReadWriteOnce"] } };
const stored = {
  ...claim,
  apiVersion: "v1",
  kind: "PersistentVolumeClaim",
  spec: { ...claim.spec, volumeMode: "Filesystem" },
  status: { phase: "Pending" },
};
const sets = (apiVersion: string, given: object) => ({
  apiVersion,
  kind: "StatefulSet",
  metadata: { name: "a" },
  spec: { volumeClaimTemplates: [given] },
});
const CLAIMS = { "f:spec": { "f:volumeClaimTemplates": {} } };

describe("an atomic field", () => {
  it("is as desired if it only has additional defaults of the server", () => {
    expect(differingPaths(CLAIMS, sets("apps/v1", claim) as never, sets("apps/v1", stored))).toEqual([]);
  });

  it.each([
    ["a field with another value than servers give", { ...stored, spec: { ...stored.spec, volumeMode: "Block" } }],
    ["a field that servers do not add", { ...stored, spec: { ...stored.spec, storageClassName: "fast" } }],
    ["a field less", { ...stored, spec: {} }],
  ])("differs if it has %s", (_, current) => {
    expect(differingPaths(CLAIMS, sets("apps/v1", claim) as never, sets("apps/v1", current))).toEqual([
      "spec.volumeClaimTemplates",
    ]);
  });

  it("differs by any additional field in objects of CRDs, which only default by their schema", () => {
    const group = "example.com/v1";
    expect(differingPaths(CLAIMS, sets(group, claim) as never, sets(group, stored))).toEqual([
      "spec.volumeClaimTemplates",
    ]);
  });
});

describe("a Secret", () => {
  const desired = { apiVersion: "v1", kind: "Secret", metadata: { name: "a" }, stringData: { user: "ann" } };
  const owned = { "f:stringData": { "f:user": {} } };
  const secret = (user: string | undefined) => ({ ...desired, stringData: undefined, data: { user } });

  it("stores stringData as data", () => {
    expect(differingPaths(owned, desired, secret(Buffer.from("ann").toString("base64")))).toEqual([]);
  });

  it("differs if somebody changed or removed its values", () => {
    expect(differingPaths(owned, desired, secret(Buffer.from("bob").toString("base64")))).toEqual(["stringData.user"]);
    expect(differingPaths(owned, desired, secret(undefined))).toEqual(["stringData.user"]);
  });
});

it("an applied field that the server dropped as empty is as desired; one never applied is not", () => {
  const desired = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "a" },
    spec: { hostname: "", hostNetwork: false },
  };
  const applied = { "f:spec": { "f:hostname": {} } };
  expect(differingPaths(applied, desired, { spec: {} })).toEqual(["spec.hostNetwork"]);
});
