import { afterAll, beforeAll, expect, it } from "vitest";
import { apiOf } from "../../../../../tools/harvest/api.mjs";
import { operatorKinds } from "../../../../../tools/harvest/validation/bases.mjs";
import {
  type Agreement,
  compareKind,
  type ValidationApi,
} from "../../../../../tools/harvest/validation/differential.mjs";
import { startKubernetes } from "../../../../../tools/kubernetes/start.mjs";
import { type ControlPlane, controlPlane } from "../../control-plane.js";
import { loadFacts } from "../../facts/facts.js";

/** Every seventh question of `node tools/harvest/validation.mjs`. */
const EVERY = 7;

let cluster: Awaited<ReturnType<typeof startKubernetes>>;
let real: ReturnType<typeof apiOf>;
let plane: ControlPlane;

beforeAll(async () => {
  cluster = await startKubernetes();
  real = apiOf(cluster.kubeconfig);
  plane = await controlPlane({ controllers: false, disabledAdmission: ["ServiceAccount"] });
});
afterAll(async () => {
  await plane?.stop();
  real?.close();
  await cluster?.stop();
});

const ours: ValidationApi = {
  async call(method, path, { body, headers } = {}) {
    const response = await plane.transport.request({
      method: method as "GET",
      path,
      headers: { "content-type": "application/json", ...headers },
      ...(body !== undefined && { body: Buffer.from(JSON.stringify(body)) }),
    });
    const chunks: Uint8Array[] = [];
    for await (const chunk of response.body) chunks.push(chunk);
    return { status: response.status, body: JSON.parse(Buffer.concat(chunks).toString("utf8")) };
  },
};

it("accepts and refuses the same as the real server, field by field", { timeout: 600_000 }, async () => {
  const facts = await loadFacts();
  const total: Agreement = { asked: 0, verdict: 0, causes: 0, wording: 0, accepted: 0, defaults: 0 };
  for (const id of operatorKinds) {
    const [group, version, kind] = id.split("/");
    const resource = facts.groups
      .find((each) => each.group === group)!
      .versions.find((each) => each.version === version)!
      .resources.find((each) => each.kind === kind)!;
    const counts = await compareKind({
      ours,
      real,
      id,
      resource: { ...resource, group, version },
      components: facts.components,
      sample: { every: EVERY },
    });
    for (const key of Object.keys(total) as (keyof Agreement)[]) total[key] += counts[key];
  }
  const share = (part: number, whole: number): number => Math.floor((100 * part) / whole);
  console.log(`agreement of ${total.asked} answers: ${JSON.stringify(total)}`);
  expect(share(total.verdict, total.asked)).toBeGreaterThanOrEqual(99);
  expect(share(total.causes, total.asked)).toBeGreaterThanOrEqual(99);
  expect(share(total.wording, total.asked)).toBeGreaterThanOrEqual(98);
  expect(share(total.defaults, total.accepted)).toBeGreaterThanOrEqual(99);
});
