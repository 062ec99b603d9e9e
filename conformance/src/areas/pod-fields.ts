import { area } from "../case.js";
import { container, merged, POD, tried } from "./built-in-kinds.js";

/** Fields of pods that are rarely set. */
export const podFieldCases = area("built-in kinds", {
  "pods: restarts by rule, resizing, user namespaces and files of variables": async (s) => {
    const of = (change: object): object => ({ spec: { containers: [{ ...container, ...change }] } });
    const init = (change: object): object => ({ spec: { initContainers: [{ ...container, name: "i", ...change }] } });
    const rule = { action: "Restart", exitCodes: { operator: "In", values: [1] } };
    const file = (fileKeyRef: object): object => of({ env: [{ name: "A", valueFrom: { fileKeyRef } }] });
    const cpu = { resourceName: "cpu", restartPolicy: "NotRequired" };
    await tried(
      POD,
      of({ resizePolicy: [cpu, cpu] }),
      of({ resizePolicy: [{ resourceName: "disk", restartPolicy: "Maybe" }] }),
      of({ resizePolicy: [{}] }),
      merged(of({ resizePolicy: [{ ...cpu, restartPolicy: "RestartContainer" }] }), {
        spec: { restartPolicy: "Never" },
      }),
      of({ restartPolicyRules: [rule] }),
      init({ restartPolicyRules: [rule, {}] }),
      init({ restartPolicy: "Always", restartPolicyRules: [{ action: "Restart" }] }),
      of({ restartPolicy: "Never", restartPolicyRules: [{ action: "Stop", exitCodes: { operator: "Is" } }] }),
      of({ restartPolicy: "Never", restartPolicyRules: Array.from({ length: 21 }, () => rule) }),
      of({
        restartPolicy: "Never",
        restartPolicyRules: [
          { action: "RestartAllContainers", exitCodes: { operator: "NotIn", values: [...Array(256).keys()] } },
        ],
      }),
      { spec: { hostUsers: false, hostNetwork: true, hostPID: true, hostIPC: true } },
      merged({ spec: { hostUsers: false } }, of({ volumeDevices: [{ name: "v", devicePath: "/v" }] })),
      file({}),
      file({ key: "A=B", volumeName: "No good", path: "../x" }),
      merged(file({ key: "A", volumeName: "v", path: "x" }), {
        spec: { volumes: [{ name: "v", hostPath: { path: "/" } }] },
      }),
    )(s);
  },
  "pods: claims on devices": async (s) => {
    const of = (resourceClaims: readonly object[], ...claims: readonly object[]): object => ({
      spec: { resourceClaims, containers: [{ ...container, resources: { claims } }] },
    });
    const claim = { name: "gpu", resourceClaimName: "c" };
    await tried(
      POD,
      of([claim, claim]),
      of([{ name: "Not good" }, { resourceClaimTemplateName: "Not good" }]),
      of([{ ...claim, resourceClaimTemplateName: "t" }]),
      of([], { name: "none" }),
      of([claim], { name: "none" }, { name: "" }),
      of([claim], { name: "gpu" }, { name: "gpu" }, { name: "gpu", request: "r" }),
      of([claim], { name: "gpu", request: "r" }, { name: "gpu", request: "r" }, { name: "gpu", request: "Not good" }),
      of([claim], { name: "gpu", request: "r" }, { name: "gpu", request: "q" }, { name: "gpu" }),
    )(s);
  },
  "claims of extended resources in the status of a pod": async (s) => {
    await s.post(POD.path(s), POD.body, { silent: true });
    const mapping = { containerName: "main", resourceName: "example.com/gpu", requestName: "r" };
    for (const claim of [
      {},
      { requestMappings: [], resourceClaimName: "" },
      { requestMappings: [mapping, mapping], resourceClaimName: "No good" },
      { requestMappings: [{ ...mapping, containerName: "none", requestName: "No good" }], resourceClaimName: "c" },
      { requestMappings: [{ ...mapping, resourceName: "constructor" }], resourceClaimName: "c" },
    ]) {
      const status = { extendedResourceClaimStatus: claim };
      await s.patch("merge", `${POD.path(s)}/x/status?dryRun=All`, { status });
    }
  },
});
