import { area } from "../../case.js";

const configMaps = (namespace: string): string => `/api/v1/namespaces/${namespace}/configmaps`;

export const createCases = area("create", {
  "a config map": async (s) => {
    await s.post(configMaps(s.namespace), { metadata: { name: "a", labels: { x: "y" } }, data: { k: "v" } });
    await s.get(`${configMaps(s.namespace)}/a`);
  },
  "the same name twice": async (s) => {
    await s.post(configMaps(s.namespace), { metadata: { name: "a" } });
    await s.post(configMaps(s.namespace), { metadata: { name: "a" } });
  },
  "with a generated name": async (s) => {
    const { body } = await s.post(configMaps(s.namespace), { metadata: { generateName: "gen-" } });
    s.generated(body.metadata.name);
    s.note("length of the name", body.metadata.name.length);
  },
  "without a name": async (s) => {
    await s.post(configMaps(s.namespace), { metadata: {} });
    await s.post(configMaps(s.namespace), {});
  },
  "with an invalid name": async (s) => {
    for (const name of ["Upper", "under_score", "-dash", "a".repeat(254), "dot..dot", "ü", "a/b", ".", ".."]) {
      await s.post(configMaps(s.namespace), { metadata: { name } });
    }
  },
  "with invalid labels and annotations": async (s) => {
    await s.post(configMaps(s.namespace), { metadata: { name: "a", labels: { "bad key": "v" } } });
    await s.post(configMaps(s.namespace), { metadata: { name: "a", labels: { key: "local:p-1" } } });
    await s.post(configMaps(s.namespace), { metadata: { name: "a", labels: { key: "v".repeat(64) } } });
    await s.post(configMaps(s.namespace), { metadata: { name: "a", annotations: { "a/b/c": "v" } } });
    await s.post(configMaps(s.namespace), { metadata: { name: "a", annotations: { big: "x".repeat(263_000) } } });
  },
  "into a namespace that does not exist": async (s) => {
    await s.post(configMaps("nowhere"), { metadata: { name: "a" } });
  },
  "into another namespace than the path says": async (s) => {
    await s.post(configMaps(s.namespace), { metadata: { name: "a", namespace: "default" } });
  },
  "with a resourceVersion": async (s) => {
    await s.post(configMaps(s.namespace), { metadata: { name: "a", resourceVersion: "1" } });
  },
  "of another kind than the path says": async (s) => {
    await s.post(configMaps(s.namespace), { apiVersion: "v1", kind: "Secret", metadata: { name: "a" } });
    await s.post(configMaps(s.namespace), { apiVersion: "apps/v1", kind: "ConfigMap", metadata: { name: "a" } });
  },
  "with server-owned metadata set by the client": async (s) => {
    await s.post(configMaps(s.namespace), {
      metadata: {
        name: "a",
        uid: "x",
        generation: 7,
        creationTimestamp: "2001-01-01T00:00:00Z",
        deletionTimestamp: "2001-01-01T00:00:00Z",
        selfLink: "/x",
      },
    });
  },
  "with owner references and finalizers": async (s) => {
    const owner = { apiVersion: "v1", kind: "ConfigMap", name: "o", uid: "5f0f34b4-0000-4000-8000-000000000000" };
    await s.post(configMaps(s.namespace), { metadata: { name: "a", finalizers: ["example.com/keep"] } });
    await s.post(configMaps(s.namespace), { metadata: { name: "b", finalizers: ["no-domain"] } });
    await s.post(configMaps(s.namespace), { metadata: { name: "c", ownerReferences: [{ ...owner, uid: "" }] } });
    await s.post(configMaps(s.namespace), {
      metadata: {
        name: "d",
        ownerReferences: [
          { ...owner, controller: true },
          { ...owner, name: "p", controller: true },
        ],
      },
    });
    await s.patch("json", `${configMaps(s.namespace)}/a`, [{ op: "remove", path: "/metadata/finalizers" }]);
  },
  "as a dry run": async (s) => {
    await s.post(`${configMaps(s.namespace)}?dryRun=All`, { metadata: { name: "a" } });
    await s.get(`${configMaps(s.namespace)}/a`);
    await s.post(`${configMaps(s.namespace)}?dryRun=Some`, { metadata: { name: "a" } });
  },
  "a secret from text": async (s) => {
    await s.post(`/api/v1/namespaces/${s.namespace}/secrets`, {
      metadata: { name: "a" },
      stringData: { k: "v" },
      data: { b: "dg==" },
    });
    await s.post(`/api/v1/namespaces/${s.namespace}/secrets`, { metadata: { name: "b" }, data: { b: "not base64!" } });
  },
  "with a body that is not an object": async (s) => {
    for (const body of ["", "{", "[]", "null", '"text"', "7", "{}x"]) await s.post(configMaps(s.namespace), body);
  },
  "with a field manager": async (s) => {
    await s.post(`${configMaps(s.namespace)}?fieldManager=me`, { metadata: { name: "a" }, data: { k: "v" } });
    await s.post(
      configMaps(s.namespace),
      { metadata: { name: "b" }, data: { k: "v" } },
      { headers: { "user-agent": "tool/v1 (linux)" } },
    );
    await s.post(`${configMaps(s.namespace)}?fieldManager=${"x".repeat(129)}`, { metadata: { name: "c" } });
  },
});
