import { area } from "../../case.js";
import type { Body, Session } from "../../session.js";

/** Names that every JavaScript object inherits. */
export const NAMES = ["constructor", "toString", "valueOf", "hasOwnProperty", "__proto__"];
/** Those that are valid as a label, a CEL identifier or an object name. */
export const WORDS = NAMES.filter((name) => !name.startsWith("_"));

export const each = (value: unknown, names: readonly string[] = NAMES): Body =>
  Object.fromEntries(names.map((name) => [name, value]));
export const path = (s: Session): string => `/api/v1/namespaces/${s.namespace}/configmaps`;
const configMap = (name: string, data: object = each("1")): Body => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, labels: { mine: "" } },
  data,
});
const make = (s: Session, name: string, data?: object): Promise<unknown> =>
  s.post(path(s), configMap(name, data), { silent: true });
/** A key that JSON Patch does not escape. */
export const paths = (below: string, names: readonly string[] = NAMES): readonly string[] =>
  names.map((name) => `${below}/${name}`);

export const inheritedNameCases = area("inherited names", {
  "as keys of data, labels and annotations": async (s) => {
    await s.post(path(s), configMap("a"));
    await s.post(path(s), { ...configMap("b"), binaryData: each("AAAA") });
    for (const name of NAMES) {
      await s.post(path(s), { metadata: { name: "c", labels: { [name]: "1" } } });
      await s.post(path(s), { metadata: { name: "d", annotations: { [name]: "1" } } });
      await s.delete(`${path(s)}/c`, undefined, { silent: true });
      await s.delete(`${path(s)}/d`, undefined, { silent: true });
    }
    await s.post(`/api/v1/namespaces/${s.namespace}/secrets`, {
      metadata: { name: "a" },
      data: each("AAAA", NAMES.slice(0, 2)),
      stringData: each("x", NAMES.slice(1)),
    });
  },
  "as fields that nothing knows": async (s) => {
    for (const name of NAMES) {
      for (const mode of ["Strict", "Warn", "Ignore"]) {
        await s.post(`${path(s)}?dryRun=All&fieldValidation=${mode}`, { ...configMap("a"), ...each("x", [name]) });
        await s.post(`${path(s)}?dryRun=All&fieldValidation=${mode}`, {
          metadata: { name: "a", ...each({}, [name]), ownerReferences: [each(1, [name])] },
        });
      }
      const twice = `{"metadata":{"name":"a"},"data":{"${name}":"1","${name}":"2"}}`;
      await s.post(`${path(s)}?dryRun=All&fieldValidation=Strict`, twice);
      await s.post(`${path(s)}?dryRun=All&fieldValidation=Warn`, `{"metadata":{"name":"a"},"${name}":1,"${name}":2}`);
    }
  },
  "in bodies of YAML": async (s) => {
    const headers = { "content-type": "application/yaml" };
    const lines = NAMES.map((name) => `  ${name}: "1"`).join("\n");
    const body = `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n${lines}\n`;
    await s.post(`${path(s)}?fieldValidation=Strict`, body, { headers });
    await s.post(`${path(s)}?fieldValidation=Strict&dryRun=All`, `${body}${lines}\n`, { headers });
    await s.post(`${path(s)}?fieldValidation=Warn&dryRun=All`, body.replace(/^ {2}(?=\w+: "1")/gm, ""), { headers });
    await s.patch("apply", `${path(s)}/b?fieldManager=me`, body.replace("name: a", "name: b"));
  },
  "in an update, and in what it leaves out": async (s) => {
    await make(s, "a");
    await s.put(`${path(s)}/a`, configMap("a", each("2", NAMES.slice(2))));
    await s.put(`${path(s)}/a`, configMap("a", {}));
    await s.put(`${path(s)}/a`, configMap("a", each("")));
    await s.put(`${path(s)}/a`, { ...configMap("a", each("")), immutable: true });
    await s.put(`${path(s)}/a`, { ...configMap("a", each("", NAMES.slice(1))), immutable: true });
  },
  "in JSON patches": async (s) => {
    await make(s, "a", { x: "1" });
    const patch = (...operations: object[]): Promise<unknown> => s.patch("json", `${path(s)}/a`, operations);
    for (const at of paths("/data")) {
      await patch({ op: "test", path: at, value: null });
      await patch({ op: "remove", path: at });
      await patch({ op: "replace", path: at, value: "1" });
      await patch({ op: "copy", from: at, path: "/data/copied" });
      await patch({ op: "add", path: `${at}/name`, value: "1" });
    }
    for (const at of paths("")) await patch({ op: "add", path: `${at}/polluted`, value: "1" });
    await patch(...paths("/data").map((at) => ({ op: "add", path: at, value: "1" })));
    await patch(...paths("/data").map((at) => ({ op: "test", path: at, value: "1" })));
    await patch(...paths("/data").map((at) => ({ op: "move", from: at, path: `${at}-moved` })));
  },
  "in merge patches": async (s) => {
    await make(s, "a", { x: "1" });
    await s.patch("merge", `${path(s)}/a`, { data: each(null) });
    await s.patch("merge", `${path(s)}/a`, { data: each("1") });
    await s.patch("merge", `${path(s)}/a`, { data: each("2", NAMES.slice(3)) });
    await s.patch("merge", `${path(s)}/a`, { data: each({ a: "1" }) });
    await s.patch("merge", `${path(s)}/a`, { ...each({ polluted: "1" }), data: each(null, NAMES.slice(1)) });
    await s.patch("merge", `${path(s)}/a`, { data: each(null) });
    await s.patch("merge", `${path(s)}/a`, { metadata: { labels: each("1", WORDS), annotations: each("1", WORDS) } });
  },
  "in strategic patches": async (s) => {
    await make(s, "a", { x: "1" });
    const patch = (body: object): Promise<unknown> => s.patch("strategic", `${path(s)}/a`, body);
    await patch({ data: each(null) });
    await patch({ data: each("1") });
    await patch({ data: { ...each("2", NAMES.slice(2)), $retainKeys: NAMES.slice(2) } });
    await patch({ data: { $patch: "replace", ...each("3", NAMES.slice(3)) } });
    await patch(each({ polluted: "1" }));
    await patch(each([{ name: "a" }]));
    await patch(Object.fromEntries(NAMES.map((name) => [`$deleteFromPrimitiveList/${name}`, ["a"]])));
    await patch({ data: each(null) });
  },
  "in applies by several managers": async (s) => {
    const at = `${path(s)}/a`;
    await s.apply("one", at, configMap("a", each("1", NAMES.slice(0, 3))));
    await s.apply("two", at, configMap("a", each("2", NAMES.slice(1))));
    await s.apply("two", at, configMap("a", each("2", NAMES.slice(1))), "&force=true");
    await s.apply("two", at, configMap("a", {}));
    await s.apply("one", at, configMap("a", each("1", NAMES.slice(2, 3))));
    for (const name of NAMES) await s.apply("one", at, { ...configMap("a"), ...each("1", [name]) });
    await s.patch("merge", `${at}?fieldManager=three`, { data: each("3") });
    await s.apply("one", at, configMap("a", each("1")));
    await s.apply("one", at, configMap("a", each("1")), "&force=true");
  },
  "as names of list items that are applied": async (s) => {
    const services = `/api/v1/namespaces/${s.namespace}/services/a`;
    const ports = (names: readonly string[], port = 80): Body => ({
      apiVersion: "v1",
      kind: "ServiceAccount",
      metadata: { name: "a", finalizers: names.map((name) => `example.com/${name}`) },
      secrets: names.map((name) => ({ name, fieldPath: String(port) })),
      imagePullSecrets: names.map((name) => ({ name })),
    });
    const at = services.replace("services", "serviceaccounts");
    await s.apply("one", at, ports(WORDS));
    await s.apply("two", at, ports(WORDS.slice(1), 81));
    await s.apply("two", at, ports(WORDS.slice(1), 81), "&force=true");
    await s.apply("one", at, ports(WORDS.slice(0, 1)));
    await s.apply("two", at, ports([]));
    await s.apply("one", at, ports([]));
  },
  "in selectors of labels and fields": async (s) => {
    await make(s, "plain");
    for (const name of WORDS)
      await s.post(
        path(s),
        { metadata: { name: name.toLowerCase(), labels: { mine: "", [name]: "yes" } } },
        { silent: true },
      );
    const list = async (query: string): Promise<void> => {
      const { status, body } = await s.get(`${path(s)}?${query}`, { silent: true });
      s.note(query, status === 200 ? body.items.map(({ metadata }: Body) => metadata.name) : { status, body });
    };
    for (const name of NAMES) {
      for (const selector of [
        name,
        `!${name}`,
        `${name}=yes`,
        `${name}!=yes`,
        `${name} in (yes,no)`,
        `${name} notin (yes)`,
      ])
        await list(`labelSelector=${encodeURIComponent(`mine,${selector}`)}`);
      await list(`fieldSelector=${name}=yes`);
      await list(`fieldSelector=metadata.${name}=yes`);
      await list(`labelSelector=mine&fieldSelector=metadata.name=${name.toLowerCase()}`);
    }
    for (const name of WORDS) {
      using watch = await s.watch(`${path(s)}?watch=true&labelSelector=mine,${name}`);
      await watch.take(1);
    }
  },
  "as names of objects": async (s) => {
    for (const name of ["constructor", "valueof", "__proto__", "toString"]) {
      await s.get(`${path(s)}/${name}`);
      await s.post(path(s), configMap(name));
      await s.get(`${path(s)}/${name}`);
      await s.patch("merge", `${path(s)}/${name}`, { data: { x: "1" } });
      await s.delete(`${path(s)}/${name}`);
      await s.delete(`${path(s)}/${name}`);
    }
    const accounts = `/api/v1/namespaces/${s.namespace}/serviceaccounts`;
    await s.post(accounts, { metadata: { name: "constructor" } });
    await s.post(`${accounts}/constructor/token`, { spec: { audiences: ["constructor"] } });
    await s.post(`/api/v1/namespaces/${s.namespace}/pods`, {
      metadata: { name: "constructor" },
      spec: {
        serviceAccountName: "constructor",
        automountServiceAccountToken: false,
        nodeSelector: each("x", WORDS),
        containers: [{ name: "constructor", image: "i", env: NAMES.map((name) => ({ name, value: `$(${name})` })) }],
        volumes: [
          { name: "constructor", configMap: { name: "constructor", items: [{ key: "valueOf", path: "toString" }] } },
        ],
      },
    });
  },
  "as groups, versions, resources and queries": async (s) => {
    for (const name of NAMES) {
      for (const target of [
        `/${name}`,
        `/api/${name}`,
        `/api/v1/${name}`,
        `/apis/${name}`,
        `/apis/apps/${name}`,
        `/apis/apps/v1/${name}`,
        `/apis/${name}/v1/widgets`,
        `/api/v1/namespaces/${name}`,
        `/api/v1/namespaces/${s.namespace}/${name}`,
        `/api/v1/namespaces/${s.namespace}/${name}/a`,
        `${path(s)}/a/${name}`,
        `/openapi/v3/${name}`,
        `/openapi/v3/apis/${name}/v1`,
        `/healthz/${name}`,
        `/livez/${name}`,
        `/readyz?exclude=${name}`,
        `${path(s)}?labelSelector=mine&${name}=1`,
      ])
        await s.get(target);
      await s.post(`${path(s)}?dryRun=${name}`, configMap("a"));
      await s.post(`${path(s)}?fieldValidation=${name}`, configMap("a"));
      await s.get(`${path(s)}?resourceVersion=1&resourceVersionMatch=${name}`);
      await s.delete(`${path(s)}/a?propagationPolicy=${name}`);
      await s.patch(name as "json", `${path(s)}/a`, [], { headers: { "content-type": `application/${name}` } });
      await s.get(path(s), { headers: { accept: `application/json;as=${name};v=v1;g=meta.k8s.io` } });
      await s.post(path(s), { apiVersion: name, kind: name, metadata: { name: "a" } });
    }
  },
  "as names of headers and extras of users": async (s) => {
    for (const name of NAMES) {
      await s.get(`${path(s)}/none`, { headers: { [name]: "x" } });
      const headers = { "impersonate-user": "somebody", [`impersonate-extra-${name}`]: ["x", "y"] };
      await s.post(
        "/apis/authentication.k8s.io/v1/selfsubjectreviews",
        { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" },
        { headers },
      );
    }
    await s.post("/apis/authorization.k8s.io/v1/subjectaccessreviews", {
      spec: { user: "somebody", extra: each(["x"]), resourceAttributes: { verb: "get", resource: "constructor" } },
    });
  },
  "as resources in roles and quotas": async (s) => {
    const below = `/api/v1/namespaces/${s.namespace}`;
    await s.post(`/apis/rbac.authorization.k8s.io/v1/namespaces/${s.namespace}/roles`, {
      metadata: { name: "constructor" },
      rules: [{ apiGroups: NAMES, resources: NAMES, verbs: NAMES, resourceNames: NAMES }],
    });
    for (const name of NAMES) {
      await s.post(`${below}/resourcequotas?dryRun=All`, {
        metadata: { name: "a" },
        spec: { hard: each("1", [name]) },
      });
      await s.post(`${below}/resourcequotas?dryRun=All`, {
        metadata: { name: "a" },
        spec: { hard: { [`count/${name}`]: "1" }, scopes: [name] },
      });
      for (const type of ["Container", "Pod"])
        await s.post(`${below}/limitranges?dryRun=All`, {
          metadata: { name: "a" },
          spec: { limits: [{ type, max: each("1", [name]), min: { cpu: "1", [`x.com/${name}`]: "1" } }] },
        });
      await s.post(`${below}/pods?dryRun=All`, {
        metadata: { name: "a" },
        spec: {
          containers: [{ name: "c", image: "i", resources: { requests: each("1", [name]), limits: { cpu: "1" } } }],
        },
      });
      await s.post(`${below}/pods?dryRun=All`, {
        metadata: { name: "a" },
        spec: {
          containers: [
            { name: "c", image: "i", resources: { requests: { [`x.com/${name}`]: "1" }, limits: each("1", [name]) } },
          ],
        },
      });
    }
  },
  "as types, units and keys that tables know": async (s) => {
    const below = `/api/v1/namespaces/${s.namespace}`;
    const autoscalers = `/apis/autoscaling/v2/namespaces/${s.namespace}/horizontalpodautoscalers?dryRun=All`;
    for (const name of NAMES) {
      await s.post(`${below}/secrets?dryRun=All`, { metadata: { name: "a" }, type: name });
      await s.post(autoscalers, {
        metadata: { name: "a" },
        spec: { scaleTargetRef: { kind: "Deployment", name: "a" }, maxReplicas: 2, metrics: [{ type: name }] },
      });
      await s.post("/apis/storage.k8s.io/v1/storageclasses?dryRun=All", {
        metadata: { name: s.namespace },
        provisioner: "example.com/none",
        parameters: each("1"),
        allowedTopologies: [{ matchLabelExpressions: [{ key: name, values: ["a"] }] }],
      });
      await s.post(`${below}/pods?dryRun=All`, {
        metadata: { name: "a" },
        spec: {
          automountServiceAccountToken: false,
          restartPolicy: name,
          dnsPolicy: name,
          tolerations: [{ key: name, operator: name, effect: name }],
          containers: [
            {
              name: "c",
              image: "i",
              imagePullPolicy: name,
              ports: [{ containerPort: 1, protocol: name }],
              env: [{ name: "A", valueFrom: { resourceFieldRef: { resource: name, divisor: "3" } } }],
            },
          ],
        },
      });
      await s.post(`${below}/services?dryRun=All`, {
        metadata: { name: "a" },
        spec: { type: name, sessionAffinity: name, selector: each("x", WORDS), ports: [{ port: 80, protocol: name }] },
      });
      await s.post(`/apis/batch/v1/namespaces/${s.namespace}/cronjobs?dryRun=All`, {
        metadata: { name: "a" },
        spec: { schedule: `@${name}`, concurrencyPolicy: name, jobTemplate: {} },
      });
    }
  },
});
