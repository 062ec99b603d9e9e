import { type ControlPlane, controlPlane } from "@setpoint/control-plane";
import type { Client, KubeObject } from "setpoint";
import { createClient, type Transport } from "setpoint/client";
import { systemClock, systemRandom } from "setpoint/clock";
import type { CommandContext } from "setpoint/command";
import { Deployment, ReplicaSet, StatefulSet } from "setpoint/kinds/apps/v1";
import { Namespace, Pod, ServiceAccount } from "setpoint/kinds/v1";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { podSources } from "./timeline-source.js";

const TOKEN_HEADER = "x-setpoint-authorization";
const PROXIED = /^\/api\/v1\/namespaces\/([^/]+)\/pods\/https:([^/:]+):8443\/proxy\/timeline/;

let plane: ControlPlane;
let client: Client;
/** The tokens that the proxy received, by pod. */
let sent: Map<string, string>;

/** Answers for the pods behind the API server's proxy. */
function proxied(inner: Transport): Transport {
  return {
    async request(request) {
      const [, namespace, name] = PROXIED.exec(request.path) ?? [];
      if (namespace === undefined) return inner.request(request);
      sent.set(`${namespace}/${name}`, String(request.headers[TOKEN_HEADER]));
      const body = (async function* () {
        yield Buffer.from("[]");
      })();
      return { status: 200, headers: { "content-type": "application/json" }, body };
    },
    [Symbol.asyncDispose]: async () => {},
  };
}

beforeEach(async () => {
  sent = new Map();
  // Its garbage collector would delete the pod whose owner is in another namespace.
  plane = await controlPlane({ controllers: false, disabledAdmission: ["ServiceAccount"] });
  const transport = proxied(plane.transport);
  client = createClient({ transport, server: "in-process", clock: systemClock, random: systemRandom });
  await plane.client.create(ServiceAccount, { metadata: { name: "viewer", namespace: "default" } });
  await plane.client.create(Namespace, { metadata: { name: "other" } });
});
afterEach(async () => {
  await plane.stop();
});

async function asked(values: Readonly<Record<string, string>>): Promise<readonly string[]> {
  const { signal } = new AbortController();
  const context = { values: { "service-account": "default/viewer", ...values }, signal } as unknown as CommandContext;
  for (const source of await podSources(client, context)) await source.runs("default/a", signal);
  return [...sent.keys()].sort();
}

const labels = { "app.kubernetes.io/managed-by": "setpoint", app: "operator" };
const template = { metadata: { labels }, spec: { containers: [{ name: "main", image: "operator" }] } };
const spec = { selector: { matchLabels: { app: "operator" } }, template };

const ownedBy = (owner: KubeObject | undefined, kind: string, controller = true) =>
  owner === undefined
    ? []
    : [{ apiVersion: "apps/v1", kind, name: owner.metadata.name, uid: owner.metadata.uid, controller }];

async function pod(name: string, more: { owners?: object[]; namespace?: string; phase?: string } = {}): Promise<void> {
  const { owners = [], namespace = "default", phase = "Running" } = more;
  const containers = [{ name: "main", image: "operator", ports: [{ name: "metrics", containerPort: 8443 }] }];
  const metadata = { name, namespace, labels, ownerReferences: owners as never };
  await plane.client.create(Pod, { metadata, spec: { containers } });
  const body = { status: { phase } };
  await plane.client.patch(Pod, name, { type: "merge", body }, { namespace, subresource: "status" });
}

describe("a token of why --service-account", () => {
  it("goes to the running pods of the Deployment that --workload names, and to no other pod with the label [R12]", async () => {
    const metadata = { name: "operator", namespace: "default" };
    const deployment = await plane.client.create(Deployment, { metadata, spec });
    const set = await plane.client.create(ReplicaSet, {
      metadata: { ...metadata, name: "operator-1", ownerReferences: ownedBy(deployment, "Deployment") },
      spec,
    });
    const foreign = await plane.client.create(ReplicaSet, { metadata: { ...metadata, name: "foreign" }, spec });
    await pod("mine-1", { owners: ownedBy(set, "ReplicaSet") });
    await pod("mine-2", { owners: ownedBy(set, "ReplicaSet") });
    await pod("pending", { owners: ownedBy(set, "ReplicaSet"), phase: "Pending" });
    await pod("labelled");
    await pod("of-another-set", { owners: ownedBy(foreign, "ReplicaSet") });
    await pod("not-its-controller", { owners: ownedBy(set, "ReplicaSet", false) });
    await pod("elsewhere", { owners: ownedBy(set, "ReplicaSet"), namespace: "other" });
    expect(await asked({ workload: "default/deployment/operator" })).toEqual(["default/mine-1", "default/mine-2"]);
    const [token] = new Set(sent.values());
    const claims = JSON.parse(Buffer.from(token!.split(".")[1]!, "base64url").toString()) as { aud: readonly string[] };
    expect(claims.aud).toEqual(["setpoint.dev/timeline"]);
  });

  it("goes to the pods of a StatefulSet in the client's own namespace [R12]", async () => {
    const metadata = { name: "db", namespace: "default" };
    const set = await plane.client.create(StatefulSet, { metadata, spec: { ...spec, serviceName: "" } });
    await pod("db-0", { owners: ownedBy(set, "StatefulSet") });
    await pod("db-1");
    expect(await asked({ workload: "StatefulSet/db" })).toEqual(["default/db-0"]);
  });

  it("goes only to the pod that --pod names, and nowhere if nothing is named [R12]", async () => {
    await pod("one");
    await pod("two");
    expect(await asked({ pod: "default/one" })).toEqual(["default/one"]);
    sent.clear();
    await expect(asked({})).rejects.toThrow("name the pod that gets it, with --pod or --workload");
    expect(sent.size).toBe(0);
  });

  it("goes nowhere if --workload is malformed, missing or without a running pod [R12]", async () => {
    for (const workload of ["operator", "default/operator", "cronjob/operator", "deployment/", "/deployment/x"]) {
      await expect(asked({ workload })).rejects.toThrow(`--workload ${workload}: expected`);
    }
    await expect(asked({ workload: "deployment/operator" })).rejects.toThrow('deployments.apps "operator" not found');
    await plane.client.create(Deployment, { metadata: { name: "operator", namespace: "default" }, spec });
    await expect(asked({ workload: "deployment/operator" })).rejects.toThrow("has no running pod");
    expect(sent.size).toBe(0);
  });
});
