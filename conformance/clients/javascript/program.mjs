// An operator's calls with the official JavaScript client, from the folder of packages that is the first argument.
// Prints one line for each step that it has asserted.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";

const require = createRequire(join(process.argv[2], "package.json"));
const k8s = await import(pathToFileURL(require.resolve("@kubernetes/client-node")).href);

const namespace = "javascript";
const group = "javascript.example.com";
const config = new k8s.KubeConfig();
config.loadFromDefault();
const core = config.makeApiClient(k8s.CoreV1Api);
const apps = config.makeApiClient(k8s.AppsV1Api);
const custom = config.makeApiClient(k8s.CustomObjectsApi);
const definitions = config.makeApiClient(k8s.ApiextensionsV1Api);
const objects = k8s.KubernetesObjectApi.makeApiClient(config);

/** The status code and body of the error of a call. */
const failure = (call) =>
  call.then(
    () => assert.fail("the call succeeded"),
    (error) => ({ code: error.code, ...(typeof error.body === "string" ? JSON.parse(error.body) : error.body) }),
  );

async function until(what, held) {
  for (let tries = 0; !(await held()); tries++) {
    assert.ok(tries < 600, `${what}: not within half a minute`);
    await sleep(50);
  }
}

const steps = {
  "definition established": async () => {
    await core.createNamespace({ body: { metadata: { name: namespace } } });
    const schema = {
      type: "object",
      properties: {
        spec: {
          type: "object",
          properties: { size: { type: "integer", minimum: 0 }, color: { type: "string", _default: "red" } },
        },
        status: { type: "object", x_kubernetes_preserve_unknown_fields: true },
      },
    };
    await definitions.createCustomResourceDefinition({
      body: {
        metadata: { name: `gadgets.${group}` },
        spec: {
          group,
          scope: "Namespaced",
          names: { kind: "Gadget", plural: "gadgets" },
          versions: [
            {
              name: "v1",
              served: true,
              storage: true,
              subresources: { status: {} },
              schema: { openAPIV3Schema: schema },
            },
          ],
        },
      },
    });
    await until("the definition is established", async () => {
      const { status } = await definitions.readCustomResourceDefinition({ name: `gadgets.${group}` });
      return status.conditions?.some(({ type, status: value }) => type === "Established" && value === "True");
    });
  },

  "typed objects": async () => {
    for (const name of ["a", "b", "c"]) {
      const body = { metadata: { name, labels: { part: "typed" } }, data: { k: name } };
      const created = await core.createNamespacedConfigMap({ namespace, body });
      assert.ok(created.metadata.creationTimestamp instanceof Date);
    }
    assert.equal(
      (await failure(core.createNamespacedConfigMap({ namespace, body: { metadata: { name: "a" } } }))).reason,
      "AlreadyExists",
    );
    const names = [];
    let page = {};
    do {
      page = await core.listNamespacedConfigMap({
        namespace,
        labelSelector: "part=typed",
        limit: 2,
        _continue: page.metadata?._continue,
      });
      names.push(...page.items.map(({ metadata }) => metadata.name));
    } while (page.metadata._continue);
    assert.deepEqual(names, ["a", "b", "c"]);
    const stale = await core.readNamespacedConfigMap({ namespace, name: "a" });
    await core.replaceNamespacedConfigMap({ namespace, name: "a", body: { ...stale, data: { k: "new" } } });
    assert.equal((await failure(core.replaceNamespacedConfigMap({ namespace, name: "a", body: stale }))).code, 409);
    const secret = await core.createNamespacedSecret({
      namespace,
      body: { metadata: { generateName: "s-" }, stringData: { k: "v" } },
    });
    assert.equal(secret.data.k, "dg==");
    await core.deleteNamespacedConfigMap({ namespace, name: "b" });
    assert.equal((await failure(core.readNamespacedConfigMap({ namespace, name: "b" }))).reason, "NotFound");
    await core.deleteCollectionNamespacedConfigMap({ namespace, labelSelector: "part=typed" });
    assert.equal((await core.listNamespacedConfigMap({ namespace, labelSelector: "part=typed" })).items.length, 0);
  },

  "patches of every kind": async () => {
    const container = { name: "web", image: "web:1" };
    const template = {
      metadata: { labels: { app: "web" } },
      spec: { containers: [container, { name: "side", image: "side:1" }] },
    };
    const spec = { paused: true, replicas: 0, selector: { matchLabels: { app: "web" } }, template };
    await apps.createNamespacedDeployment({ namespace, body: { metadata: { name: "web" }, spec } });
    const patch = (strategy, body, more = {}) =>
      apps.patchNamespacedDeployment(
        { namespace, name: "web", body, ...more },
        k8s.setHeaderOptions("Content-Type", strategy),
      );
    const images = ({ spec: { template } }) => template.spec.containers.map(({ image }) => image);
    const strategic = { spec: { template: { spec: { containers: [{ name: "web", image: "web:2" }] } } } };
    assert.deepEqual(images(await patch(k8s.PatchStrategy.StrategicMergePatch, strategic)), ["web:2", "side:1"]);
    assert.deepEqual(images(await patch(k8s.PatchStrategy.MergePatch, strategic)), ["web:2"]);
    const operations = [{ op: "replace", path: "/spec/template/spec/containers/0/image", value: "web:3" }];
    assert.deepEqual(images(await patch(k8s.PatchStrategy.JsonPatch, operations)), ["web:3"]);
    const applied = {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name: "web" },
      spec: { replicas: 0, minReadySeconds: 5 },
    };
    const owned = await patch(k8s.PatchStrategy.ServerSideApply, applied, { fieldManager: "javascript" });
    assert.equal(owned.spec.minReadySeconds, 5);
    const scale = await apps.readNamespacedDeploymentScale({ namespace, name: "web" });
    assert.equal(scale.spec.replicas ?? 0, 0);
    await apps.deleteNamespacedDeployment({ namespace, name: "web", propagationPolicy: "Background" });
  },

  "custom objects": async () => {
    const gadgets = { group, version: "v1", namespace, plural: "gadgets" };
    const body = { apiVersion: `${group}/v1`, kind: "Gadget", metadata: { name: "one" }, spec: { size: 1 } };
    const created = await custom.createNamespacedCustomObject({ ...gadgets, body });
    assert.deepEqual(created.spec, { size: 1, color: "red" });
    const invalid = await failure(
      custom.createNamespacedCustomObject({
        ...gadgets,
        body: { ...body, metadata: { name: "two" }, spec: { size: -1 } },
      }),
    );
    assert.deepEqual([invalid.code, invalid.reason], [422, "Invalid"]);
    const ready = { ...created, status: { phase: "Ready" } };
    const updated = await custom.replaceNamespacedCustomObjectStatus({ ...gadgets, name: "one", body: ready });
    assert.deepEqual([updated.status.phase, updated.metadata.generation], ["Ready", 1]);
    const merged = await custom.patchNamespacedCustomObject(
      { ...gadgets, name: "one", body: { spec: { size: 2 } } },
      k8s.setHeaderOptions("Content-Type", k8s.PatchStrategy.MergePatch),
    );
    assert.deepEqual([merged.spec.size, merged.metadata.generation], [2, 2]);
    assert.equal((await custom.listNamespacedCustomObject(gadgets)).items.length, 1);
    await custom.deleteNamespacedCustomObject({ ...gadgets, name: "one" });
  },

  "objects of any kind": async () => {
    const [one, map] = k8s.loadAllYaml(`
apiVersion: ${group}/v1
kind: Gadget
metadata: { name: yaml, namespace: ${namespace} }
spec: { size: 3 }
---
apiVersion: v1
kind: ConfigMap
metadata: { name: yaml, namespace: ${namespace} }
`);
    for (const object of [one, map]) await objects.create(object);
    assert.equal((await objects.read(one)).spec.size, 3);
    const applied = { ...map, data: { a: "b" } };
    const patched = await objects.patch(
      applied,
      undefined,
      undefined,
      "javascript",
      true,
      k8s.PatchStrategy.ServerSideApply,
    );
    assert.deepEqual(patched.data, { a: "b" });
    assert.equal((await objects.list(`${group}/v1`, "Gadget", namespace)).items.length, 1);
    for (const object of [one, map]) await objects.delete(object);
  },

  watch: async () => {
    const { metadata } = await core.listNamespacedConfigMap({ namespace });
    const seen = [];
    const path = `/api/v1/namespaces/${namespace}/configmaps`;
    const query = { resourceVersion: metadata.resourceVersion, labelSelector: "part=watch", allowWatchBookmarks: true };
    const see = (type, object) => seen.push(`${type} ${object.metadata.name}`);
    const controller = await new k8s.Watch(config).watch(path, query, see, () => {});
    await core.createNamespacedConfigMap({
      namespace,
      body: { metadata: { name: "watched", labels: { part: "watch" } } },
    });
    await core.patchNamespacedConfigMap(
      { namespace, name: "watched", body: { data: { a: "b" } } },
      k8s.setHeaderOptions("Content-Type", k8s.PatchStrategy.MergePatch),
    );
    await core.deleteNamespacedConfigMap({ namespace, name: "watched" });
    await until("three events", () => seen.length === 3);
    assert.deepEqual(seen, ["ADDED watched", "MODIFIED watched", "DELETED watched"]);
    controller.abort();
  },

  informer: async () => {
    const seen = [];
    const list = () => core.listNamespacedConfigMap({ namespace, labelSelector: "part=informer" });
    const body = (name) => ({ metadata: { name, labels: { part: "informer" } } });
    await core.createNamespacedConfigMap({ namespace, body: body("before") });
    const informer = k8s.makeInformer(config, `/api/v1/namespaces/${namespace}/configmaps`, list, "part=informer");
    for (const type of ["add", "update", "delete"])
      informer.on(type, ({ metadata }) => seen.push(`${type} ${metadata.name}`));
    informer.on("error", (error) => seen.push(`error ${error}`));
    await informer.start();
    assert.deepEqual(
      informer.list(namespace).map(({ metadata }) => metadata.name),
      ["before"],
    );
    await core.createNamespacedConfigMap({ namespace, body: body("after") });
    await until("the new object", () => informer.get("after", namespace));
    await core.deleteNamespacedConfigMap({ namespace, name: "before" });
    await until("the deletion", () => !informer.get("before", namespace));
    assert.deepEqual(seen, ["add before", "add after", "delete before"]);
    await informer.stop();
  },

  "access reviews and tokens": async () => {
    await core.createNamespacedServiceAccount({ namespace, body: { metadata: { name: "robot" } } });
    const request = { spec: { audiences: [], expirationSeconds: 600 } };
    const { status } = await core.createNamespacedServiceAccountToken({ namespace, name: "robot", body: request });
    const robot = new k8s.KubeConfig();
    const { server, caData } = config.getCurrentCluster();
    robot.loadFromOptions({
      clusters: [{ name: "c", server, caData }],
      users: [{ name: "robot", token: status.token }],
      contexts: [{ name: "x", cluster: "c", user: "robot" }],
      currentContext: "x",
    });
    const who = await robot.makeApiClient(k8s.AuthenticationV1Api).createSelfSubjectReview({ body: {} });
    assert.equal(who.status.userInfo.username, `system:serviceaccount:${namespace}:robot`);
    const forbidden = await failure(robot.makeApiClient(k8s.CoreV1Api).listNamespacedSecret({ namespace }));
    assert.deepEqual([forbidden.code, forbidden.reason], [403, "Forbidden"]);
    const review = { spec: { resourceAttributes: { verb: "list", resource: "secrets", namespace } } };
    const asked = (of) => of.makeApiClient(k8s.AuthorizationV1Api).createSelfSubjectAccessReview({ body: review });
    assert.deepEqual([(await asked(config)).status.allowed, (await asked(robot)).status.allowed], [true, false]);
  },

  "definition and namespace deleted": async () => {
    await definitions.deleteCustomResourceDefinition({ name: `gadgets.${group}` });
    await core.deleteNamespace({ name: namespace });
    await until("the namespace is gone", () =>
      core.readNamespace({ name: namespace }).then(
        () => false,
        (error) => error.code === 404,
      ),
    );
  },
};

for (const [title, step] of Object.entries(steps)) {
  await step();
  console.log(title);
}
