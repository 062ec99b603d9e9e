import { systemClock } from "setpoint/clock";
import { area } from "../../case.js";
import type { Body, Session } from "../../session.js";
import { widget, widgetPath, widgets } from "../custom/widgets.js";

const path = (s: Session): string => `/api/v1/namespaces/${s.namespace}/configmaps`;
const aggregated = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json";
const asTable = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";
const asMetadata = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io,application/json";
const asMetadataList = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json";

const builtInGroup = (name: string): boolean => !name.endsWith(".example.com");

export const discoveryCases = area("discovery", {
  "the core group's versions": async (s) => {
    const { body, status } = await s.get("/api", { silent: true });
    s.note("api", [status, body.kind, body.versions]);
  },
  "all groups": async (s) => {
    const { body, status } = await s.get("/apis", { silent: true });
    s.note("groups", [
      status,
      body.kind,
      body.apiVersion,
      body.groups.filter((group: Body) => builtInGroup(group.name)),
    ]);
  },
  "one group": async (s) => {
    await s.get("/apis/apps");
    await s.get("/apis/apps/");
    await s.get("/apis/none");
  },
  "the core resources": async (s) => {
    await s.get("/api/v1");
  },
  "the resources of a group version": async (s) => {
    for (const version of [
      "apps/v1",
      "batch/v1",
      "rbac.authorization.k8s.io/v1",
      "apiextensions.k8s.io/v1",
      "coordination.k8s.io/v1",
      "autoscaling/v2",
    ])
      await s.get(`/apis/${version}`);
    await s.get("/apis/apps/v7");
  },
  "aggregated, of the core group": async (s) => {
    await s.get("/api", { headers: { accept: aggregated } });
  },
  "aggregated, of all groups": async (s) => {
    const reply = await s.get("/apis", { silent: true, headers: { accept: aggregated } });
    s.note("type", [reply.status, reply.headers["content-type"]]);
    s.note(
      "groups",
      reply.body.items.filter((group: Body) => builtInGroup(group.metadata.name)),
    );
  },
  "is not sent again": async (s) => {
    const first = await s.get("/api", { silent: true, headers: { accept: aggregated } });
    s.note("tagged", typeof first.headers.etag);
    const again = await s.get("/api", {
      silent: true,
      headers: { accept: aggregated, "if-none-match": String(first.headers.etag) },
    });
    s.note("again", [again.status, again.text]);
  },
  "of a new custom resource": async (s) => {
    await s.crd(widgets(s, { type: "object" }, { version: { subresources: { status: {} } } }));
    await s.eventually(`/apis/${s.group}/v1`, (reply) => reply.status === 200 && reply.body.resources.length > 1);
    await s.eventually(`/apis/${s.group}`, (reply) => reply.status === 200);
    const list = await s.get("/apis", { silent: true, headers: { accept: aggregated } });
    s.note(
      "aggregated",
      list.body.items.find((group: Body) => group.metadata.name === s.group),
    );
  },
  "the version": async (s) => {
    const { body } = await s.get("/version", { silent: true });
    s.note("version", [body.major, body.minor, body.gitVersion, Object.keys(body).sort()]);
  },
  health: async (s) => {
    for (const each of ["/healthz", "/livez", "/readyz"]) {
      await s.get(each);
      for (const check of ["ping", "etcd", "none"]) await s.get(`${each}/${check}`);
      const { text } = await s.get(`${each}?verbose&exclude=none`, { silent: true });
      s.note(each, [text.startsWith("[+]ping ok\n[+]log ok\n"), text.slice(text.indexOf("warn:"))]);
    }
    const { status, headers } = await s.get("/metrics", { silent: true });
    s.note("metrics", [status, headers["content-type"]]);
  },
  "in the type that is asked for": async (s) => {
    for (const accept of [
      "application/yaml",
      "text/html",
      "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList",
      "application/json;g=apidiscovery.k8s.io;v=v1;as=APIGroupDiscoveryList,application/json",
    ]) {
      await s.get("/api/v1", { headers: { accept } });
      await s.get("/apis/policy", { headers: { accept } });
      for (const root of ["/api", "/apis"]) {
        const reply = await s.get(root, { headers: { accept }, silent: true });
        const { status, message } = reply.body;
        s.note(`${root} ${accept}`, [reply.status, reply.headers["content-type"], status, message]);
      }
    }
    const { text } = await s.get("/apis/policy", { headers: { "user-agent": "curl/8.0" }, silent: true });
    s.note("for people", text);
  },
  "by other methods": async (s) => {
    for (const each of ["/api", "/apis/apps", "/api/v1", "/apis/apps/v1", "/version"]) {
      await s.post(each, {});
      await s.delete(each);
    }
    for (const each of ["/api", "/version", "/healthz", `${path(s)}`, `${path(s)}/a`, "/api/v1/namespaces/default"]) {
      const { status, text } = await s.send("HEAD", each, undefined, { silent: true });
      s.note(`HEAD ${each}`, [status, text]);
    }
  },
  "paths that lead nowhere": async (s) => {
    for (const each of [
      "/nowhere",
      "/api/v2",
      "/api/v1/nothings",
      "/apis/apps/v1/nothings",
      `${path(s)}/a/nothing`,
      "/apis/none/v1/x",
    ])
      await s.get(each);
  },
});

/** Facts are stored without descriptions. */
function withoutDescriptions(value: Body): Body {
  if (Array.isArray(value)) return value.map(withoutDescriptions);
  if (typeof value !== "object" || value === null) return value;
  const kept = Object.entries(value).filter(([key, item]) => !(key === "description" && typeof item === "string"));
  return Object.fromEntries(kept.map(([key, item]) => [key, withoutDescriptions(item)]));
}

/** The operations of a path: its methods, their kind, and the names of their parameters. */
function operations(methods: Body): Body {
  const { parameters = [], ...rest } = methods;
  const names = (list: Body): Body => list.map((each: Body) => each.name).sort();
  return [
    names(parameters),
    Object.entries(rest as Record<string, Body>).map(([method, operation]) => [
      method,
      operation["x-kubernetes-group-version-kind"],
      operation["x-kubernetes-action"],
      names(operation.parameters ?? []),
    ]),
  ];
}

export const openApiCases = area("openapi", {
  "the index names every group version": async (s) => {
    const reply = await s.get("/openapi/v3", { silent: true });
    const paths = Object.keys(JSON.parse(reply.text).paths)
      .filter((each) => !each.includes("example.com"))
      .sort();
    s.note("index", [reply.status, reply.headers["content-type"], paths]);
  },
  ...Object.fromEntries(
    [
      "apis/apps/v1",
      "api/v1",
      "apis/batch/v1",
      "apis/coordination.k8s.io/v1",
      "apis/rbac.authorization.k8s.io/v1",
      "apis/policy/v1",
      "apis/networking.k8s.io/v1",
    ].map((group) => [
      `the schemas of ${group}`,
      async (s: Session) => {
        const reply = await s.get(`/openapi/v3/${group}`, { silent: true });
        const schemas = JSON.parse(reply.text).components.schemas as Record<string, Body>;
        s.note(
          "kinds",
          Object.entries(schemas)
            .filter(([, schema]) => schema["x-kubernetes-group-version-kind"])
            .map(([name, schema]) => [
              name,
              Object.keys(schema.properties ?? {}).sort(),
              schema["x-kubernetes-group-version-kind"],
            ])
            .sort(),
        );
      },
    ]),
  ),
  "says that patches take fieldValidation": async (s) => {
    const { text } = await s.get("/openapi/v3/apis/apps/v1", { silent: true });
    const operation = JSON.parse(text).paths["/apis/apps/v1/namespaces/{namespace}/deployments/{name}"]?.patch;
    s.note("patch", [
      operation?.["x-kubernetes-group-version-kind"],
      operation?.parameters?.map((each: Body) => each.name).sort(),
    ]);
  },
  "is not sent again": async (s) => {
    const index = JSON.parse((await s.get("/openapi/v3", { silent: true })).text);
    const reply = await s.get(index.paths["apis/batch/v1"].serverRelativeURL, { silent: true });
    s.note("hashed", [reply.status, typeof reply.headers.etag, reply.headers["cache-control"] !== undefined]);
    const again = await s.get("/openapi/v3/apis/batch/v1", {
      silent: true,
      headers: { "if-none-match": String(reply.headers.etag) },
    });
    s.note("again", again.status);
  },
  "of a custom resource": async (s) => {
    await s.crd(
      widgets(s, {
        type: "object",
        properties: { a: { type: "string", default: "x" }, n: { type: "integer", minimum: 1 } },
        required: ["n"],
      }),
    );
    const path = `/openapi/v3/apis/${s.group}/v1`;
    let reply = await s.get(path, { silent: true });
    for (let tries = 0; tries < 400 && reply.status !== 200; tries++) {
      await systemClock.sleep(50);
      reply = await s.get(path, { silent: true });
    }
    const { components, paths } = reply.body;
    const own = Object.entries(components.schemas).filter(([name]) => name.startsWith("com.example."));
    s.note("schemas", withoutDescriptions(Object.fromEntries(own)));
    s.note("components", Object.keys(components.schemas).sort());
    s.note("paths", Object.fromEntries(Object.entries(paths).map(([each, methods]) => [each, operations(methods)])));
  },
  "in its older form": async (s) => {
    for (const accept of ["application/json", "application/com.github.proto-openapi.spec.v2@v1.0+protobuf", "*/*"]) {
      const { status, headers, body } = await s.get("/openapi/v2", { headers: { accept }, silent: true });
      s.note(accept, [status, headers["content-type"], headers.vary, headers.etag !== undefined, body.swagger]);
    }
  },
  "of a group that is not there": async (s) => {
    await s.get("/openapi/v3/apis/none/v1");
  },
});

export const negotiationCases = area("content", {
  "accepts what it can": async (s) => {
    await s.post(path(s), { metadata: { name: "a" } }, { silent: true });
    for (const accept of [
      "application/json",
      "*/*",
      "application/*",
      "text/html",
      "application/yaml",
      "text/plain, application/json;q=0.5",
      "application/cbor",
      "application/xml, */*",
    ]) {
      await s.get(`${path(s)}/a`, { headers: { accept } });
    }
  },
  "answers in yaml": async (s) => {
    await s.post(
      path(s),
      { metadata: { name: "a" }, data: { text: "line\nline\n", quoted: "true", empty: "" } },
      { silent: true },
    );
    const reply = await s.get(`${path(s)}/a`, { silent: true, headers: { accept: "application/yaml" } });
    s.note("yaml", [
      reply.status,
      reply.headers["content-type"],
      reply.text.replace(/(uid|creationTimestamp|resourceVersion|time): .*/g, "$1"),
    ]);
  },
  "takes yaml": async (s) => {
    await s.post(path(s), "metadata:\n  name: a\ndata:\n  k: v\n", { headers: { "content-type": "application/yaml" } });
    await s.post(path(s), "metadata: [", { headers: { "content-type": "application/yaml" } });
    await s.post(path(s), "metadata:\n  name: b\ndata:\n  a: yes\n", {
      headers: { "content-type": "application/yaml" },
    });
  },
  "refuses other types": async (s) => {
    for (const type of ["text/plain", "application/cbor", "application/xml", "multipart/form-data"]) {
      await s.post(path(s), "{}", { headers: { "content-type": type } });
    }
  },
  "refuses protobuf for custom resources": async (s) => {
    await s.crd(widgets(s, { type: "object" }));
    await s.get(widgetPath(s), { headers: { accept: "application/vnd.kubernetes.protobuf" } });
    await s.get(widgetPath(s), { headers: { accept: "text/html" } });
    await s.get(`${widgetPath(s)}/none`, { headers: { accept: "application/vnd.kubernetes.protobuf, text/html" } });
    await s.post(widgetPath(s), widget(s, "a"), {
      headers: { accept: "application/vnd.kubernetes.protobuf,application/json" },
    });
  },
  "unknown fields by validation mode": async (s) => {
    const body = { metadata: { name: "a", nope: 1 }, data: {}, extra: { deep: 1 } };
    await s.post(`${path(s)}?dryRun=All`, body);
    for (const mode of ["Ignore", "Warn", "Strict", "Loose"])
      await s.post(`${path(s)}?dryRun=All&fieldValidation=${mode}`, body);
  },
  "duplicate fields by validation mode": async (s) => {
    const body = '{"metadata":{"name":"a","labels":{"x":"1","x":"2"}},"data":{"k":"1"},"data":{"k":"2"}}';
    for (const mode of ["Ignore", "Warn", "Strict"])
      await s.post(`${path(s)}?dryRun=All&fieldValidation=${mode}`, body);
  },
  "wrong types of fields": async (s) => {
    await s.post(path(s), { metadata: { name: "a" }, data: { k: 1 } });
    await s.post(path(s), { metadata: { name: 7 } });
    await s.post(path(s), { metadata: "text" });
    await s.post(path(s), { metadata: { name: "a" }, data: ["x"] });
    await s.post(path(s), { metadata: { name: "a", labels: "x" } });
    await s.post(`/apis/apps/v1/namespaces/${s.namespace}/deployments`, {
      metadata: { name: "a" },
      spec: { replicas: "3" },
    });
  },
  "names of fields are taken by case": async (s) => {
    await s.post(`${path(s)}?dryRun=All`, { Metadata: { name: "a" } });
    await s.post(`${path(s)}?dryRun=All`, { metadata: { Name: "a" } });
  },
  "an object that is too large": async (s) => {
    await s.crd(widgets(s, { type: "object", "x-kubernetes-preserve-unknown-fields": true }));
    await s.post(widgetPath(s), widget(s, "a", { text: "x".repeat(1_650_000) }));
  },
  "values that nest too deeply": async (s) => {
    const deep = (opening: string, closing: string): string =>
      `{"metadata":{"name":"a"},"unknown":${opening.repeat(20_000)}${closing.repeat(20_000)}}`;
    await s.post(path(s), deep("[", "]"));
    await s.post(path(s), deep('{"a":', "}").replace('"a":}', '"a":1}'));
  },
  "a body that is too large": async (s) => {
    const reply = await s.post(path(s), `{"metadata":{"name":"a"},"data":{"k":"${"x".repeat(3 * 1024 * 1024)}"}}`, {
      silent: true,
    });
    s.note("answer", [reply.status, reply.body.reason, reply.body.message]);
  },
  "large answers are compressed when asked": async (s) => {
    await s.post(path(s), { metadata: { name: "a" }, data: { k: "x".repeat(200_000) } }, { silent: true });
    const reply = await s.get(`${path(s)}/a`, { silent: true, headers: { "accept-encoding": "gzip" } });
    s.note("answer", [reply.status, reply.headers["content-encoding"]]);
    await s.post(path(s), { metadata: { name: "b" } }, { silent: true });
    const small = await s.get(`${path(s)}/b`, { silent: true, headers: { "accept-encoding": "gzip" } });
    s.note("small", [small.status, small.headers["content-encoding"]]);
  },
});

export const tableCases = area("tables", {
  ...Object.fromEntries(
    [
      "configmaps",
      "secrets",
      "services",
      "serviceaccounts",
      "events",
      "persistentvolumeclaims",
      "pods",
      "resourcequotas",
    ].map((plural) => [
      `columns of ${plural}`,
      async (s: Session) => {
        const reply = await s.get(`/api/v1/namespaces/${s.namespace}/${plural}?fieldSelector=metadata.name%3Dnone`, {
          headers: { accept: asTable },
        });
        s.note("kind", reply.body.kind);
      },
    ]),
  ),
  "columns of workloads": async (s) => {
    for (const plural of ["deployments", "replicasets", "statefulsets", "daemonsets"])
      await s.get(`/apis/apps/v1/namespaces/${s.namespace}/${plural}`, { headers: { accept: asTable } });
  },
  "a row with its object": async (s) => {
    await s.post(path(s), { metadata: { name: "a" }, data: { k: "v", l: "w" } }, { silent: true });
    for (const include of [
      "",
      "?includeObject=None",
      "?includeObject=Object",
      "?includeObject=Metadata",
      "?includeObject=Half",
    ]) {
      await s.get(`${path(s)}/a${include}`, { headers: { accept: asTable } });
    }
  },
  "a list": async (s) => {
    for (const name of ["a", "b"])
      await s.post(path(s), { metadata: { name, labels: { mine: "" } }, data: { k: "v" } }, { silent: true });
    await s.get(`${path(s)}?labelSelector=mine`, { headers: { accept: asTable } });
    await s.get(`${path(s)}?labelSelector=mine&limit=1`, { headers: { accept: asTable } });
  },
  "an error is a status": async (s) => {
    await s.get(`${path(s)}/none`, { headers: { accept: asTable } });
  },
  "metadata alone": async (s) => {
    await s.post(path(s), { metadata: { name: "a", labels: { mine: "" } }, data: { k: "v" } }, { silent: true });
    await s.get(`${path(s)}/a`, { headers: { accept: asMetadata } });
    await s.get(`${path(s)}?labelSelector=mine`, { headers: { accept: asMetadataList } });
    await s.get(`${path(s)}?labelSelector=mine`, { headers: { accept: asMetadata.split(",")[0]! } });
  },
  "of another group version": async (s) => {
    await s.get(path(s), { headers: { accept: "application/json;as=Table;v=v9;g=meta.k8s.io" } });
    await s.get(path(s), { headers: { accept: "application/json;as=Chair;v=v1;g=meta.k8s.io" } });
  },
});
