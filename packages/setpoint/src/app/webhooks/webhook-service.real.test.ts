import { networkInterfaces } from "node:os";
import { describe, expect, it, vi } from "vitest";
import { startKubernetes } from "../../../../../tools/kubernetes/start.mjs";
import { isConflict } from "../../client/api-error.js";
import type { Client } from "../../client/client.js";
import { connect } from "../../client/connect.js";
import type { Clock } from "../../clock/clock.js";
import { systemClock } from "../../clock/system-clock.js";
import { VirtualClock } from "../../clock/virtual-clock.js";
import { ValidatingWebhookConfiguration } from "../../kinds/builtin/admissionregistration.k8s.io/v1.js";
import { EndpointSlice } from "../../kinds/builtin/discovery.k8s.io/v1.js";
import { Namespace, Service } from "../../kinds/builtin/v1.js";
import { OldOrder, Order, orders } from "../app.testing.js";
import { shownCertificate } from "../certificates/shown-certificate.testing.js";
import { WebhookServer } from "./webhook-server.js";

const DAY_MS = 86_400_000;
const service = { namespace: "shops", name: "orders" };
const here = { namespace: "default" };
/** Long enough for an API server to notice a Service, its endpoints and a webhook. */
const soon = { timeout: 30_000, interval: 200 };

/** An address that endpoints may have: loopback addresses are refused. */
const address = Object.values(networkInterfaces())
  .flat()
  .find((each) => each?.family === "IPv4" && !each.internal)?.address;

/** A running clock that is behind by so many days. */
function daysAgo(days: number): VirtualClock & Disposable {
  const clock = new VirtualClock(systemClock.now() - days * DAY_MS);
  let isOver = false;
  const tick = async (): Promise<void> => {
    for (; !isOver; await systemClock.sleep(20)) await clock.advance(20);
  };
  void tick();
  return Object.assign(clock, {
    [Symbol.dispose]: () => {
      isOver = true;
    },
  });
}

/** A process that acts as a pod behind the Service; its clock may be behind. */
const startPod = (client: Client, clock: Clock): Promise<WebhookServer> =>
  WebhookServer.start({ apps: [orders], client, service, port: 0, clock });

/** Acts as endpoints controller and kubelet: routes the Service to the pod. */
async function routeTo(client: Client, { port }: WebhookServer): Promise<void> {
  const { namespace, name } = service;
  await client.apply(
    EndpointSlice,
    {
      metadata: { namespace, name, labels: { "kubernetes.io/service-name": name } },
      addressType: "IPv4",
      ports: [{ name: "https", port, protocol: "TCP" }],
      endpoints: [{ addresses: [address!], conditions: { ready: true } }],
    },
    { force: true },
  );
}

const order = (name: string, count: number) => ({ metadata: { name, ...here }, spec: { item: "tea", count } });

async function installedAuthorities(client: Client): Promise<number> {
  const { webhooks = [] } = await client.get(ValidatingWebhookConfiguration, orders.name);
  const { clientConfig } = webhooks[0]!;
  expect(clientConfig.service).toMatchObject(service);
  const bundle = Buffer.from(String(clientConfig.caBundle), "base64").toString("utf8");
  return bundle.match(/BEGIN CERTIFICATE/g)?.length ?? 0;
}

const title = address ? "" : " (skipped: this machine has no address but loopbacks)";
describe.skipIf(!address)(`webhooks behind a Service, on a real kube-apiserver${title}`, () => {
  it("are called through the Service, and go on being called while certificate and authority are replaced", async () => {
    await using cluster = await startKubernetes({ apiserverFlags: ["--enable-aggregator-routing=true"] });
    await using client = await connect({ kubeconfig: cluster.kubeconfig });
    await client.create(Namespace, { metadata: { name: service.namespace } });
    await client.create(Service, {
      metadata: service,
      spec: { ports: [{ name: "https", port: 443, targetPort: 9443 }] },
    });

    // A CA lasts ten years and is replaced after two thirds of them: this one is 2,440 days old.
    using longAgo = daysAgo(2_440);
    await (await startPod(client, longAgo))[Symbol.asyncDispose]();
    using clock = daysAgo(61);
    await using pod = await startPod(client, clock);
    await routeTo(client, pod);
    expect(await installedAuthorities(client)).toBe(1);

    await vi.waitFor(async () => {
      const { metadata } = await client.create(Order, order("first", 1), { dryRun: true });
      expect(metadata.annotations).toEqual({ by: "admin" });
      await expect(client.create(Order, order("many", 11), { dryRun: true })).rejects.toSatisfy(isConflict);
    }, soon);
    await client.create(Order, order("first", 1));
    const first = await client.get(Order, "first", here);
    expect(first.metadata.annotations).toEqual({ by: "admin" });
    await expect(client.create(Order, order("many", 11))).rejects.toSatisfy(isConflict);
    expect((await client.get(OldOrder, "first", here)).spec).toEqual({ item: "tea", pieces: 1 });

    const before = await shownCertificate(pod.port);
    const rotation = new AbortController();
    let made = 0;
    const writes = (async () => {
      while (!rotation.signal.aborted) await client.create(Order, order(`during-${made++}`, 1));
    })();
    clock.stepWall(61 * DAY_MS);
    await clock.advance(3_600_000);
    await vi.waitFor(async () => expect(await shownCertificate(pod.port)).not.toBe(before), soon);
    expect(await installedAuthorities(client)).toBe(2);
    const enough = made + 5;
    await vi.waitFor(() => expect(made).toBeGreaterThan(enough), soon);
    rotation.abort();
    await writes;

    // Another pod shows the certificate of the same Secret; calling it needs a handshake that the new CA signs.
    await using second = await startPod(client, systemClock);
    expect(await shownCertificate(second.port)).toBe(await shownCertificate(pod.port));
    await routeTo(client, second);
    await pod[Symbol.asyncDispose]();
    await vi.waitFor(() => client.create(Order, order("last", 1)), soon);
    await expect(client.create(Order, order("many", 11))).rejects.toSatisfy(isConflict);
  }, 240_000);
});
