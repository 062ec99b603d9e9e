import { area } from "../../case.js";
import type { Body, Session } from "../../session.js";
import { widget, widgetPath, widgets } from "../custom/widgets.js";
import { deployment } from "./update.js";

const deployments = (s: Session): string => `/apis/apps/v1/namespaces/${s.namespace}/deployments`;
const pods = (s: Session): string => `/api/v1/namespaces/${s.namespace}/pods`;
const pod = (name: string, spec: object = {}): object => ({
  metadata: { name, labels: { app: name } },
  spec: { containers: [{ name: "c", image: "i:1" }], ...spec },
});

export const subresourceCases = area("subresources", {
  "scale of a deployment": async (s) => {
    await s.post(deployments(s), deployment("a"), { silent: true });
    const read = await s.get(`${deployments(s)}/a/scale`, { silent: true });
    s.note("scale", [
      read.status,
      read.body.kind,
      read.body.apiVersion,
      read.body.spec,
      read.body.status,
      Object.keys(read.body.metadata).sort(),
    ]);
    const set = await s.patch("merge", `${deployments(s)}/a/scale`, { spec: { replicas: 0 } }, { silent: true });
    s.note("set", [set.status, set.body.spec]);
    const wrong = await s.patch("merge", `${deployments(s)}/a/scale`, { spec: { replicas: -1 } }, { silent: true });
    s.note("wrong", [wrong.status, wrong.body.message, wrong.body.details]);
  },
  "scale of nothing": async (s) => {
    await s.get(`${deployments(s)}/none/scale`);
    await s.patch("merge", `${deployments(s)}/none/scale`, { spec: { replicas: 1 } });
  },
  "scale with an old resourceVersion": async (s) => {
    await s.post(deployments(s), deployment("a"), { silent: true });
    const { body } = await s.get(`${deployments(s)}/a/scale`, { silent: true });
    const stale = { ...body, metadata: { ...body.metadata, resourceVersion: "1" }, spec: { replicas: 0 } };
    const reply = await s.put(`${deployments(s)}/a/scale`, stale, { silent: true });
    s.note("answer", [reply.status, reply.body.reason, reply.body.message]);
  },
  "status of a deployment": async (s) => {
    await s.post(deployments(s), { ...deployment("a"), status: { replicas: 9 } }, { silent: true });
    const reply = await s.patch(
      "merge",
      `${deployments(s)}/a/status`,
      { status: { conditions: [{ type: "Mine", status: "True" }] }, spec: { replicas: 7 } },
      { silent: true },
    );
    s.note("answer", [
      reply.status,
      reply.body.spec.replicas,
      reply.body.status.conditions?.some((each: { type: string }) => each.type === "Mine"),
    ]);
  },
  binding: async (s) => {
    await s.post(pods(s), pod("a"), { silent: true });
    await s.post(`${pods(s)}/a/binding`, {
      apiVersion: "v1",
      kind: "Binding",
      metadata: { name: "a" },
      target: { kind: "Node", name: "n" },
    });
    const { body } = await s.get(`${pods(s)}/a`, { silent: true });
    s.note("bound", [
      body.spec.nodeName,
      body.status.conditions?.map((each: { type: string; status: string }) => [each.type, each.status]),
    ]);
    await s.post(`${pods(s)}/a/binding`, {
      apiVersion: "v1",
      kind: "Binding",
      metadata: { name: "a" },
      target: { kind: "Node", name: "m" },
    });
    await s.post(`${pods(s)}/none/binding`, {
      apiVersion: "v1",
      kind: "Binding",
      metadata: { name: "none" },
      target: { kind: "Node", name: "m" },
    });
  },
  eviction: async (s) => {
    await s.post(pods(s), pod("a"), { silent: true });
    await s.post(`${pods(s)}/a/eviction`, { apiVersion: "policy/v1", kind: "Eviction", metadata: { name: "a" } });
    await s.get(`${pods(s)}/a`);
    await s.post(`${pods(s)}/none/eviction`, { apiVersion: "policy/v1", kind: "Eviction", metadata: { name: "none" } });
    await s.post(`${pods(s)}/none/eviction`, {
      apiVersion: "policy/v1",
      kind: "Eviction",
      metadata: { name: "other" },
    });
  },
  "ephemeral containers": async (s) => {
    await s.post(pods(s), pod("a", { nodeName: "n" }), { silent: true });
    const reply = await s.patch(
      "strategic",
      `${pods(s)}/a/ephemeralcontainers`,
      { spec: { ephemeralContainers: [{ name: "debug", image: "i" }] } },
      { silent: true },
    );
    s.note("answer", [reply.status, reply.body.spec?.ephemeralContainers?.length]);
    const direct = await s.patch(
      "strategic",
      `${pods(s)}/a`,
      { spec: { ephemeralContainers: [{ name: "more", image: "i" }] } },
      { silent: true },
    );
    s.note("direct", [direct.status, direct.body.reason]);
    await s.delete(`${pods(s)}/a`, { gracePeriodSeconds: 0 }, { silent: true });
  },
  "approval of a signing request": async (s) => {
    await s.get("/apis/certificates.k8s.io/v1/certificatesigningrequests/none/approval");
    await s.get("/apis/certificates.k8s.io/v1/certificatesigningrequests/none/status");
  },
  "status of a namespace": async (s) => {
    const reply = await s.patch(
      "merge",
      `/api/v1/namespaces/${s.namespace}/status`,
      { status: { conditions: [{ type: "Mine", status: "True", reason: "r", message: "m" }] } },
      { silent: true },
    );
    s.note("answer", [reply.status, reply.body.status]);
  },
  "that do not exist": async (s) => {
    await s.get(`/api/v1/namespaces/${s.namespace}/configmaps/a/status`);
    await s.get(`/api/v1/namespaces/${s.namespace}/configmaps/a/scale`);
    await s.post(`${deployments(s)}/a/scale`, {});
    await s.delete(`${deployments(s)}/a/status`);
  },
  "applied to scale": async (s) => {
    const paused: Body = deployment("a");
    await s.post(deployments(s), { ...paused, spec: { ...paused.spec, paused: true } }, { silent: true });
    const wanted = (replicas: number): object => ({
      apiVersion: "autoscaling/v1",
      kind: "Scale",
      metadata: { name: "a" },
      spec: { replicas },
    });
    const owners = async (): Promise<void> => {
      const { body } = await s.get(`${deployments(s)}/a`, { silent: true });
      const entries = body.metadata.managedFields.filter((each: Body) => each.fieldsV1["f:spec"]?.["f:replicas"]);
      s.note("owners", [
        body.spec.replicas,
        entries.map((each: Body) => [each.manager, each.operation, each.subresource, each.apiVersion]).sort(),
      ]);
    };
    for (const [manager, replicas, query] of [
      ["one", 0, ""],
      ["one", 2, "&force=true"],
      ["two", 3, ""],
      ["two", 2, ""],
      ["two", 3, "&force=true"],
    ] as const) {
      await s.apply(manager, `${deployments(s)}/a/scale`, wanted(replicas), query);
      await owners();
    }
  },
  "applied to the scale of a custom resource": async (s) => {
    const scale = { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas" };
    const spec = { type: "object", properties: { replicas: { type: "integer" } } };
    await s.crd(widgets(s, spec, { version: { subresources: { scale } } }));
    await s.apply("one", `${widgetPath(s)}/a`, widget(s, "a", { replicas: 1 }));
    const wanted = (replicas: number): object => ({
      apiVersion: "autoscaling/v1",
      kind: "Scale",
      metadata: { name: "a" },
      spec: { replicas },
    });
    for (const [name, replicas, query] of [
      ["a", 3, ""],
      ["a", 3, "&force=true"],
      ["a", 1, ""],
      ["none", 1, "&force=true"],
    ] as const) {
      await s.apply("two", `${widgetPath(s)}/${name}/scale`, wanted(replicas), query);
    }
    await s.put(`${widgetPath(s)}/a/scale?fieldManager=three`, wanted(5));
    await s.get(`${widgetPath(s)}/a`);
  },
  "applied to status": async (s) => {
    await s.post(deployments(s), deployment("a"), { silent: true });
    const body = {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name: "a" },
      status: { conditions: [{ type: "Mine", status: "True", reason: "r", message: "m" }] },
    };
    const reply = await s.patch("apply", `${deployments(s)}/a/status?fieldManager=mine`, body, { silent: true });
    const entry = reply.body.metadata?.managedFields?.find((each: { manager: string }) => each.manager === "mine");
    s.note("answer", [reply.status, entry?.subresource, entry?.fieldsV1, entry?.operation]);
  },
});
