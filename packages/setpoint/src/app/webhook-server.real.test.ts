import { afterAll, beforeAll, expect, it } from "vitest";
import { startKubernetes } from "../../../../tools/kubernetes/start.mjs";
import type { Client } from "../client/client.js";
import { connect } from "../client/connect.js";
import { ValidatingWebhookConfiguration } from "../kinds/builtin/admissionregistration.k8s.io/v1.js";
import { OldOrder, Order, orders } from "./app.testing.js";
import { WebhookServer } from "./webhook-server.js";

const metadata = { namespace: "default", name: "a" };
const here = { namespace: "default" };

let cluster: Awaited<ReturnType<typeof startKubernetes>>;
let client: Client;

beforeAll(async () => {
  cluster = await startKubernetes();
  client = await connect({ kubeconfig: cluster.kubeconfig });
}, 900_000);

afterAll(async () => {
  await client?.[Symbol.asyncDispose]();
  await cluster?.stop();
});

it("admits, mutates and converts for a real API server on this machine", async () => {
  const server = await WebhookServer.start({ apps: [orders], client });
  const made = await client.create(Order, { metadata, spec: { item: "tea", count: 6 } });
  expect(made.metadata.annotations).toEqual({ by: expect.any(String) });
  const many = client.create(Order, { metadata: { ...metadata, name: "b" }, spec: { item: "tea", count: 11 } });
  await expect(many).rejects.toMatchObject({ status: 409, reason: "Conflict" });
  expect((await client.get(OldOrder, "a", here)).spec).toEqual({ item: "tea", pieces: 6 });
  await server[Symbol.asyncDispose]();
  expect((await client.list(ValidatingWebhookConfiguration)).items).toEqual([]);
});
