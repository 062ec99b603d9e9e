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

async function quota(hard: object): Promise<void> {
  await call("POST", "resourcequotas", { metadata: { name: "q" }, spec: { hard } });
  await expect.poll(async () => (await call("GET", "resourcequotas/q")).status.hard).toEqual(hard);
}
const used = async () => (await call("GET", "resourcequotas/q")).status.used;
const secret = (name: string) => call("POST", "secrets", { metadata: { name } });
const pod = (name: string, resources: object) =>
  call("POST", "pods", { metadata: { name }, spec: { containers: [{ name: "c", image: "i", resources }] } });

describe("resource quotas", () => {
  it("refuse what is one too many, and say what is used", async () => {
    await quota({ "count/secrets": "1" });
    expect((await secret("a")).kind).toBe("Secret");
    expect((await secret("b")).message).toBe(
      'secrets "b" is forbidden: exceeded quota: q, requested: count/secrets=1, used: count/secrets=1, limited: count/secrets=1',
    );
    expect(await used()).toEqual({ "count/secrets": "1" });
  });

  it("let two that come at once through only where there is room for both", async () => {
    await quota({ secrets: "1" });
    const answers = await Promise.all([secret("a"), secret("b")]);
    expect(answers.filter(({ kind }) => kind === "Secret")).toHaveLength(1);
  });

  it("count down when an object goes", async () => {
    await quota({ secrets: "1" });
    await secret("a");
    await call("DELETE", "secrets/a");
    await expect.poll(used).toEqual({ secrets: "0" });
    expect((await secret("b")).kind).toBe("Secret");
  });

  it("add up what containers ask for, and want them to say it", async () => {
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
});
