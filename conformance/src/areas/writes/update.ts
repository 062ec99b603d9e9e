import { area } from "../../case.js";
import type { Session } from "../../session.js";

const path = (s: Session): string => `/api/v1/namespaces/${s.namespace}/configmaps`;
const deployments = (s: Session): string => `/apis/apps/v1/namespaces/${s.namespace}/deployments`;

export const deployment = (name: string): object => ({
  metadata: { name },
  spec: {
    replicas: 0,
    selector: { matchLabels: { app: name } },
    template: { metadata: { labels: { app: name } }, spec: { containers: [{ name: "c", image: "i:1" }] } },
  },
});

export const updateCases = area("update", {
  "replaces the object": async (s) => {
    const { body } = await s.post(path(s), { metadata: { name: "a", labels: { x: "1" } }, data: { k: "v", l: "w" } });
    await s.put(`${path(s)}/a`, { ...body, data: { k: "new" }, metadata: { ...body.metadata, labels: { y: "2" } } });
  },
  "without a resourceVersion": async (s) => {
    await s.post(path(s), { metadata: { name: "a" } });
    await s.put(`${path(s)}/a`, { metadata: { name: "a" }, data: { k: "v" } });
  },
  "with an old resourceVersion": async (s) => {
    const { body } = await s.post(path(s), { metadata: { name: "a" } });
    await s.put(`${path(s)}/a`, { ...body, data: { k: "1" } });
    await s.put(`${path(s)}/a`, { ...body, data: { k: "2" } });
  },
  "with a resourceVersion that is no number": async (s) => {
    const { body } = await s.post(path(s), { metadata: { name: "a" } });
    await s.put(`${path(s)}/a`, { ...body, metadata: { ...body.metadata, resourceVersion: "abc" } });
  },
  "of an object that is not there": async (s) => {
    await s.put(`${path(s)}/a`, { metadata: { name: "a" } });
    await s.put(`${path(s)}/a`, { metadata: { name: "a", resourceVersion: "5" } });
  },
  "with another name, namespace or uid": async (s) => {
    const { body } = await s.post(path(s), { metadata: { name: "a" } });
    await s.put(`${path(s)}/a`, { ...body, metadata: { ...body.metadata, name: "b" } });
    await s.put(`${path(s)}/a`, { ...body, metadata: { ...body.metadata, namespace: "default" } });
    await s.put(`${path(s)}/a`, {
      ...body,
      metadata: { ...body.metadata, uid: "5f0f34b4-0000-4000-8000-000000000000" },
    });
  },
  "with changed server-owned metadata": async (s) => {
    const { body } = await s.post(path(s), { metadata: { name: "a" } });
    await s.put(`${path(s)}/a`, {
      ...body,
      metadata: { ...body.metadata, creationTimestamp: "2001-01-01T00:00:00Z", generation: 9 },
    });
    await s.put(`${path(s)}/a`, { ...body, metadata: { ...body.metadata, deletionTimestamp: "2031-01-01T00:00:00Z" } });
  },
  "that changes nothing": async (s) => {
    const { body } = await s.post(path(s), { metadata: { name: "a" }, data: { k: "v" } });
    await s.put(`${path(s)}/a`, body);
    await s.put(`${path(s)}/a`, { ...body, data: { k: "v" } });
  },
  "counts the generation of a deployment": async (s) => {
    const { body } = await s.post(`${deployments(s)}`, deployment("a"), { silent: true });
    s.note("first", body.metadata.generation);
    const scaled = await s.patch("merge", `${deployments(s)}/a`, { spec: { minReadySeconds: 3 } }, { silent: true });
    s.note("spec changed", [scaled.status, scaled.body.metadata.generation]);
    const labelled = await s.patch(
      "merge",
      `${deployments(s)}/a`,
      { metadata: { labels: { x: "y" } } },
      { silent: true },
    );
    s.note("label changed", [labelled.status, labelled.body.metadata.generation]);
  },
  "of an immutable config map": async (s) => {
    await s.post(path(s), { metadata: { name: "a" }, data: { k: "v" }, immutable: true });
    await s.patch("merge", `${path(s)}/a`, { data: { k: "w" } });
    await s.patch("merge", `${path(s)}/a`, { immutable: false });
    await s.patch("merge", `${path(s)}/a`, { metadata: { labels: { x: "y" } } });
  },
  "of a lease needs a resourceVersion": async (s) => {
    const leases = `/apis/coordination.k8s.io/v1/namespaces/${s.namespace}/leases`;
    await s.post(leases, {
      metadata: { name: "a" },
      spec: { holderIdentity: "me", leaseDurationSeconds: 15, renewTime: "2026-01-01T00:00:00.000000Z" },
    });
    await s.put(`${leases}/a`, { metadata: { name: "a" }, spec: { holderIdentity: "you" } });
  },
  "of a lease takes times with six digits alone": async (s) => {
    const path = `/apis/coordination.k8s.io/v1/namespaces/${s.namespace}/leases`;
    for (const renewTime of [
      "2026-01-01T00:00:00Z",
      "2026-01-01T00:00:00.1Z",
      "2026-01-01T00:00:00.123456789Z",
      "2026-01-01T01:00:00.000001+01:00",
      "2026-01-01T00:00:00,123456Z",
      "2026-01-01T00:00:00",
      "2026-01-01 00:00:00.123456Z",
      "2026-01-01T00:00:00.12345",
      "2026-01-01T00:00:00.123456",
      "2026-13-01T00:00:00.123456Z",
      "",
    ]) {
      const { status, body } = await s.post(
        `${path}?dryRun=All`,
        { metadata: { name: "a" }, spec: { renewTime } },
        { silent: true },
      );
      s.note(renewTime, [
        status,
        body.message,
        body.spec?.renewTime?.replace(/T.*/, (time: string) => `at ${time.slice(1, -1)}`),
      ]);
    }
  },
  "as a dry run": async (s) => {
    const { body } = await s.post(path(s), { metadata: { name: "a" } });
    await s.put(`${path(s)}/a?dryRun=All`, { ...body, data: { k: "v" } });
    await s.get(`${path(s)}/a`);
  },
  "on a collection": async (s) => {
    await s.put(path(s), { metadata: { name: "a" } });
    await s.patch("merge", path(s), {});
    await s.post(`${path(s)}/a`, { metadata: { name: "a" } });
  },
});
