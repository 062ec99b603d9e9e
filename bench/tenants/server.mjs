// A control plane with workloads, a durable journal and three tenants, in a process of its own. Tells its parent the port,
// its memory when asked, and stops when told.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { controlPlane } from "@setpoint/control-plane";

const TENANTS = ["honest-a", "honest-b", "hostile"];
const dataDir = mkdtempSync(join(tmpdir(), "tenants-"));
const tokens = new Map(TENANTS.map((name) => [`${name}-token`, { name, groups: [] }]));
let errors = 0;
const plane = await controlPlane({ dataDir, listen: {}, workloads: true, tokens, log: () => errors++ });
for (const name of TENANTS) {
  await post("/api/v1/namespaces", { metadata: { name } });
  await post(`/apis/rbac.authorization.k8s.io/v1/namespaces/${name}/rolebindings`, {
    metadata: { name: "edit" },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "edit" },
    subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name }],
  });
}
let peakRss = 0;
setInterval(() => {
  peakRss = Math.max(peakRss, process.memoryUsage().rss);
}, 100).unref();
process.on("message", async (message) => {
  if (message === "memory") {
    process.send({ peakRss, errors });
    peakRss = 0;
  }
  if (message === "stop") {
    await plane.stop();
    rmSync(dataDir, { recursive: true, force: true });
    process.exit(0);
  }
});
process.send({ port: Number(new URL(plane.url).port) });

async function post(path, body) {
  const headers = { "content-type": "application/json" };
  const answer = await plane.transport.request({
    method: "POST",
    path,
    headers,
    body: Buffer.from(JSON.stringify(body)),
  });
  if (answer.status !== 201) throw new Error(`POST ${path}: ${answer.status}`);
}
