import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type ControlPlane, controlPlane } from "../control-plane.js";

let plane: ControlPlane;
beforeEach(async () => {
  plane = await controlPlane();
});
afterEach(() => plane.stop());

const CORE = "/api/v1/namespaces/default";

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every kind.
async function call(method: "GET" | "POST" | "DELETE", path: string, body?: object): Promise<any> {
  const response = await plane.transport.request({
    method,
    path: `${CORE}/${path}`,
    headers: { "content-type": "application/json" },
    ...(body && { body: Buffer.from(JSON.stringify(body)) }),
  });
  const chunks: Uint8Array[] = [];
  for await (const chunk of response.body) chunks.push(chunk);
  return JSON.parse(Buffer.concat(chunks).toString("utf8"));
}

async function quota(hard: object, spec: object = {}, name = "q"): Promise<void> {
  await call("POST", "resourcequotas", { metadata: { name }, spec: { hard, ...spec } });
  await expect.poll(async () => (await call("GET", `resourcequotas/${name}`)).status.hard).toEqual(hard);
}
const used = async () => (await call("GET", "resourcequotas/q")).status.used;
const secret = (name: string) => call("POST", "secrets", { metadata: { name } });
const pod = (name: string, resources: object) =>
  call("POST", "pods", { metadata: { name }, spec: { containers: [{ name: "c", image: "i", resources }] } });

describe("resource quotas", () => {
  it("refuse an object beyond the limit, and state the usage", async () => {
    await quota({ "count/secrets": "1" });
    expect((await secret("a")).kind).toBe("Secret");
    expect((await secret("b")).message).toBe(
      'secrets "b" is forbidden: exceeded quota: q, requested: count/secrets=1, used: count/secrets=1, limited: count/secrets=1',
    );
    expect(await used()).toEqual({ "count/secrets": "1" });
  });

  it("admit two concurrent objects only if there is room for both", async () => {
    await quota({ secrets: "1" });
    const answers = await Promise.all([secret("a"), secret("b")]);
    expect(answers.filter(({ kind }) => kind === "Secret")).toHaveLength(1);
  });

  it("count down when an object is deleted", async () => {
    await quota({ secrets: "1" });
    await secret("a");
    await call("DELETE", "secrets/a");
    await expect.poll(used).toEqual({ secrets: "0" });
    expect((await secret("b")).kind).toBe("Secret");
  });

  it("sum the requests of containers, and require them to be stated", async () => {
    await expect.poll(async () => (await call("GET", "serviceaccounts/default")).kind).toBe("ServiceAccount");
    await quota({ "requests.cpu": "1", "limits.memory": "2Gi" });
    expect((await pod("silent", {})).message).toBe(
      'pods "silent" is forbidden: failed quota: q: must specify limits.memory for: c; requests.cpu for: c',
    );
    await pod("a", { requests: { cpu: "600m" }, limits: { memory: "1Gi" } });
    expect(await used()).toEqual({ "requests.cpu": "600m", "limits.memory": "1Gi" });
    expect((await pod("b", { requests: { cpu: "600m" }, limits: { memory: "1Gi" } })).message).toContain(
      "exceeded quota: q, requested: requests.cpu=600m, used: requests.cpu=600m, limited: requests.cpu=1",
    );
  });

  it("charge nothing to one quota if another refuses", async () => {
    await quota({ secrets: "5" }, {}, "wide");
    await quota({ secrets: "0" }, {}, "none");
    expect((await secret("a")).message).toContain("exceeded quota: none");
    expect((await call("GET", "resourcequotas/wide")).status.used).toEqual({ secrets: "0" });
  });

  it("know the scopes of pods and of claims", async () => {
    await expect.poll(async () => (await call("GET", "serviceaccounts/default")).kind).toBe("ServiceAccount");
    await quota({ pods: "0" }, { scopes: ["CrossNamespacePodAffinity"] }, "cross");
    const required = [{ topologyKey: "zone", namespaces: ["other"] }];
    const affinity = { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required } };
    const spec = { containers: [{ name: "c", image: "i" }], affinity };
    expect((await call("POST", "pods", { metadata: { name: "far" }, spec })).message).toContain(
      "exceeded quota: cross",
    );
    expect((await pod("near", {})).kind).toBe("Pod");
    const fast = [{ scopeName: "VolumeAttributesClass", operator: "In", values: ["fast"] }];
    await quota({ persistentvolumeclaims: "0" }, { scopeSelector: { matchExpressions: fast } }, "fast");
    const claim = (name: string, volumeAttributesClassName?: string) =>
      call("POST", "persistentvolumeclaims", {
        metadata: { name },
        spec: {
          accessModes: ["ReadWriteOnce"],
          resources: { requests: { storage: "1Gi" } },
          ...(volumeAttributesClassName && { volumeAttributesClassName }),
        },
      });
    expect((await claim("slow")).kind).toBe("PersistentVolumeClaim");
    expect((await claim("fast", "fast")).message).toContain("exceeded quota: fast");
  });

  it("count sidecars beside the containers and beside the init containers after them", async () => {
    await expect.poll(async () => (await call("GET", "serviceaccounts/default")).kind).toBe("ServiceAccount");
    await quota({ "requests.cpu": "1", "requests.example.com/gpu": "2" });
    const container = (name: string, cpu: string, more: object = {}) => ({
      name,
      image: "i",
      resources: { requests: { cpu } },
      ...more,
    });
    const initContainers = [container("side", "200m", { restartPolicy: "Always" }), container("init", "400m")];
    await call("POST", "pods", {
      metadata: { name: "a" },
      spec: { containers: [container("c", "100m")], initContainers },
    });
    expect(await used()).toEqual({ "requests.cpu": "600m", "requests.example.com/gpu": "0" });
  });

  it("show no usage of resources that are not served", async () => {
    await quota({ secrets: "1", "count/widgets.example.com": "1" });
    expect(await used()).toEqual({ secrets: "0" });
  });
});
