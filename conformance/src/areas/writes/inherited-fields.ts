import { systemClock } from "setpoint/clock";
import { area } from "../../case.js";
import type { Body } from "../../session.js";
import { crds, object, widget, widgetPath, widgets } from "../custom/widgets.js";
import { each, NAMES, path, paths, WORDS } from "./inherited-names.js";

const open = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
const texts = { type: "object", additionalProperties: { type: "string", maxLength: 20 }, maxProperties: 10 };

/** The same names in schemas, rules and policies of users. */
export const inheritedFieldCases = area("inherited names", {
  "in custom resources that keep what they do not know": async (s) => {
    await s.crd(widgets(s, open));
    await s.post(widgetPath(s), widget(s, "a", each({ deep: each([each("1")]) })));
    await s.patch("merge", `${widgetPath(s)}/a`, { spec: each({ deep: each(null, NAMES.slice(1)) }, NAMES.slice(2)) });
    await s.patch("json", `${widgetPath(s)}/a`, [{ op: "remove", path: "/spec/__proto__/deep" }]);
    await s.apply("me", `${widgetPath(s)}/a`, widget(s, "a", each({ mine: each(1) })));
    await s.apply("me", `${widgetPath(s)}/a`, widget(s, "a", each({ mine: each(1, ["valueOf"]) }, NAMES.slice(3))));
    await s.patch("merge", `${widgetPath(s)}/a`, { spec: null, ...each("pruned") });
  },
  "in maps of custom resources": async (s) => {
    await s.crd(
      widgets(s, object({ map: texts, nested: { type: "object", additionalProperties: object({ a: texts }) } })),
    );
    await s.post(widgetPath(s), widget(s, "a", { map: each("1"), nested: each({ a: each("x") }) }));
    await s.post(widgetPath(s), widget(s, "b", { map: each(1) }));
    await s.post(`${widgetPath(s)}?fieldValidation=Strict`, widget(s, "b", { nested: each({ b: 1, ...each(1) }) }));
    await s.post(`${widgetPath(s)}?fieldValidation=Warn`, widget(s, "b", { ...each(1), nested: each({ b: 1 }) }));
    await s.apply("me", `${widgetPath(s)}/a`, widget(s, "a", { map: each("2"), nested: each({ a: each("x") }) }));
    await s.apply("me", `${widgetPath(s)}/a`, widget(s, "a", { map: each("1", WORDS) }));
    await s.patch("merge", `${widgetPath(s)}/a`, { spec: { map: each(null) } });
  },
  "as properties with defaults, required and listed": async (s) => {
    const schema = object(
      { ...each({ type: "string", default: "d", maxLength: 9 }), other: object({}, { required: WORDS }) },
      {},
    );
    await s.post(`${crds}?dryRun=All`, widgets(s, schema));
    await s.crd(widgets(s, schema));
    await s.post(widgetPath(s), widget(s, "a", {}));
    await s.post(widgetPath(s), widget(s, "b", each(null)));
    await s.post(widgetPath(s), widget(s, "c", each("longer than nine")));
    await s.post(widgetPath(s), widget(s, "d", { other: {} }));
    await s.apply("me", `${widgetPath(s)}/a`, widget(s, "a", each("x")));
  },
  "as keys of list items": async (s) => {
    const keyed = (names: readonly string[], properties: object): object =>
      object({
        list: {
          type: "array",
          "x-kubernetes-list-type": "map",
          "x-kubernetes-list-map-keys": names,
          items: object(properties, { required: names }),
        },
      });
    const text = { type: "string", maxLength: 9 };
    await s.post(`${crds}?dryRun=All`, widgets(s, keyed(WORDS, {})));
    await s.post(`${crds}?dryRun=All`, widgets(s, object({}, { required: WORDS })));
    await s.crd(widgets(s, keyed(NAMES, { ...each(text), x: text })));
    await s.post(widgetPath(s), widget(s, "a", { list: [each("1"), each("2")] }));
    await s.post(widgetPath(s), widget(s, "b", { list: [each("1"), each("1")] }));
    await s.post(widgetPath(s), widget(s, "b", { list: [each("1", WORDS), {}] }));
    await s.apply("me", `${widgetPath(s)}/a`, widget(s, "a", { list: [{ ...each("1"), x: "1" }] }));
    await s.apply("you", `${widgetPath(s)}/a`, widget(s, "a", { list: [{ ...each("1"), x: "2" }] }));
    await s.apply("me", `${widgetPath(s)}/a`, widget(s, "a", { list: [] }));
  },
  "in rules of CEL": async (s) => {
    const rules = [
      "'constructor' in self.map ? self.map.constructor == 'x' : true",
      "!('toString' in self.map) || self.map['toString'] != 'no'",
      "!has(self.map.valueOf) || self.map.valueOf.size() < 3",
      "self.map.all(k, k != '__proto__' || self.map[k] != 'no')",
      "!has(self.hasOwnProperty) || self.hasOwnProperty > 0",
      "self.map.map(k, k).size() < 9",
    ];
    const schema = object(
      { map: texts, hasOwnProperty: { type: "integer" } },
      { "x-kubernetes-validations": rules.map((rule) => ({ rule })) },
    );
    await s.post(`${crds}?dryRun=All`, widgets(s, schema));
    await s.crd(widgets(s, schema));
    await s.post(widgetPath(s), widget(s, "a", { map: {} }));
    await s.post(widgetPath(s), widget(s, "b", { map: each("x"), hasOwnProperty: 1 }));
    await s.post(widgetPath(s), widget(s, "c", { map: each("no"), hasOwnProperty: 0 }));
    await s.post(widgetPath(s), widget(s, "d", { map: each("long"), hasOwnProperty: 2 }));
    for (const name of NAMES) {
      for (const rule of [
        `self.${name} == 1`,
        `${name} == 1`,
        `${name}(1) == 1`,
        `self.${name}() == 1`,
        `has(self.${name})`,
        `self.map.${name} == ''`,
        `type(1) == ${name}`,
        `${name}{} == 1`,
      ])
        await s.post(
          `${crds}?dryRun=All`,
          widgets(s, object({ map: texts }, { "x-kubernetes-validations": [{ rule }] })),
        );
      const reason = { rule: "true", fieldPath: `.${name}`, reason: name };
      await s.post(`${crds}?dryRun=All`, widgets(s, object({ map: texts }, { "x-kubernetes-validations": [reason] })));
    }
  },
  "as resources, kinds, versions and short names": async (s) => {
    const named = (names: object, version = "constructor"): Body =>
      widgets(s, open, {
        crd: {
          names: { plural: "constructor", singular: "valueof", kind: "Constructor", listKind: "ValueOf", ...names },
        },
        version: { name: version },
      });
    const crd = { ...named({}), metadata: { name: `constructor.${s.group}` } };
    for (const names of [{ kind: "toString" }, { kind: "__proto__" }, { plural: "__proto__" }, { shortNames: NAMES }])
      await s.post(`${crds}?dryRun=All`, { ...named(names), metadata: { name: `constructor.${s.group}` } });
    await s.post(`${crds}?dryRun=All`, { ...named({}, "__proto__"), metadata: { name: `constructor.${s.group}` } });
    await s.crd(crd);
    const at = `/apis/${s.group}/constructor/namespaces/${s.namespace}/constructor`;
    const made = { apiVersion: `${s.group}/constructor`, kind: "Constructor", metadata: { name: "constructor" } };
    await s.post(at, { ...made, spec: each("1") });
    await s.get(at);
    await s.apply("me", `${at}/constructor`, { ...made, spec: each("2") }, "&force=true");
    await s.get(`/apis/${s.group}`);
    await s.get(`${at}/constructor/status`);
    await s.delete(`${at}/constructor`);
  },
  "as columns, selectable fields and paths of replicas": async (s) => {
    const named = each({ type: "string" }, WORDS);
    const extra = {
      version: {
        additionalPrinterColumns: WORDS.map((name) => ({ name, type: "string", jsonPath: `.spec.${name}` })),
        selectableFields: WORDS.map((name) => ({ jsonPath: `.spec.${name}` })),
        subresources: {
          status: {},
          scale: { specReplicasPath: ".spec.n.constructor", statusReplicasPath: ".status.valueOf" },
        },
      },
    };
    const schema = object({ ...named, n: object({ constructor: { type: "integer" } }) });
    await s.post(`${crds}?dryRun=All`, widgets(s, schema, extra));
    const none = { version: { selectableFields: NAMES.map((name) => ({ jsonPath: `.spec.n.${name}` })) } };
    await s.post(`${crds}?dryRun=All`, widgets(s, object({ n: object({}) }), none));
    await s.crd(widgets(s, schema, extra));
    await s.post(widgetPath(s), widget(s, "a", {}));
    await s.post(widgetPath(s), widget(s, "b", { ...each("x", WORDS), n: { constructor: 3 } }));
    await s.get(widgetPath(s), { headers: { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" } });
    for (const name of WORDS) {
      const { body } = await s.get(`${widgetPath(s)}?fieldSelector=spec.${name}=x`, { silent: true });
      s.note(name, body.items?.map(({ metadata }: Body) => metadata.name) ?? body);
    }
    await s.get(`${widgetPath(s)}/a/scale`);
    await s.get(`${widgetPath(s)}/b/scale`);
    await s.patch("merge", `${widgetPath(s)}/a/scale`, { spec: { replicas: 2 } });
  },
  "in patches and selectors of webhooks": async (s) => {
    const configuration = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations";
    const operations = [
      ...paths("/data").map((at) => ({ op: "add", path: at, value: "hooked" })),
      { op: "add", path: "/metadata/labels/constructor", value: "hooked" },
    ];
    let isCalled = false;
    const url = s.hooks.serve(`/${s.namespace}`, ({ request }: Body) => {
      isCalled = true;
      const patch = Buffer.from(JSON.stringify(operations)).toString("base64");
      const response = { uid: request.uid, allowed: true, patchType: "JSONPatch", patch };
      return { body: { apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", response } };
    });
    const webhook = {
      name: "a.example.com",
      clientConfig: { url, caBundle: s.hooks.caBundle },
      rules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["configmaps"] }],
      namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": s.namespace } },
      objectSelector: {
        matchExpressions: [
          { key: "toString", operator: "Exists" },
          { key: "constructor", operator: "DoesNotExist" },
        ],
      },
      sideEffects: "None",
      admissionReviewVersions: ["v1"],
    };
    await s.post(configuration, { metadata: { name: s.namespace }, webhooks: [webhook] }, { silent: true });
    const labelled = (name: string, labels: object): object => ({ metadata: { name, labels }, data: { x: "1" } });
    for (let tries = 0; tries < 200 && !isCalled; tries++) {
      await s.post(`${path(s)}?dryRun=All`, labelled("probe", { toString: "1" }), { silent: true });
      await systemClock.sleep(25);
    }
    await s.post(path(s), labelled("a", { toString: "1" }));
    await s.post(path(s), labelled("b", {}));
    await s.post(path(s), labelled("c", { toString: "1", constructor: "1" }));
    await s.delete(`${configuration}/${s.namespace}`, undefined, { silent: true });
  },
  "in admission policies and their variables": async (s) => {
    const registration = "/apis/admissionregistration.k8s.io/v1";
    const rules = [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["configmaps"] }];
    const spec = (extra: object): object => ({ matchConstraints: { resourceRules: rules }, ...extra });
    for (const name of NAMES) {
      const policy = spec({
        variables: [{ name, expression: "1" }],
        validations: [{ expression: `variables.${name} == 2` }],
      });
      await s.post(`${registration}/validatingadmissionpolicies?dryRun=All`, {
        metadata: { name: s.namespace },
        spec: policy,
      });
      const without = spec({
        validations: [{ expression: `variables.${name} == 2` }, { expression: `object.${name} == 1` }],
      });
      await s.post(`${registration}/validatingadmissionpolicies?dryRun=All`, {
        metadata: { name: s.namespace },
        spec: without,
      });
    }
    const validations = [
      {
        expression: "!has(object.data) || !('constructor' in object.data)",
        messageExpression: "'found ' + object.data.constructor",
      },
      { expression: "!has(object.data) || !has(object.data.toString)" },
      { expression: "variables.valueOf == 'fine'", message: "probed" },
    ];
    const variables = [
      {
        name: "valueOf",
        expression: "has(object.metadata.labels) && 'valueOf' in object.metadata.labels ? 'bad' : 'fine'",
      },
    ];
    await s.post(
      `${registration}/validatingadmissionpolicies`,
      { metadata: { name: s.namespace }, spec: spec({ variables, validations }) },
      { silent: true },
    );
    await s.post(
      `${registration}/validatingadmissionpolicybindings`,
      {
        metadata: { name: s.namespace },
        spec: {
          policyName: s.namespace,
          validationActions: ["Deny"],
          matchResources: { namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": s.namespace } } },
        },
      },
      { silent: true },
    );
    const probe = { metadata: { name: "probe", labels: { valueOf: "1" } } };
    await s.seen(`${path(s)}?dryRun=All`, probe, ({ status }) => status !== 201);
    await s.post(path(s), { metadata: { name: "a" }, data: each("x", ["constructor"]) });
    await s.post(path(s), { metadata: { name: "b" }, data: each("x", ["toString"]) });
    await s.post(path(s), { metadata: { name: "c" }, data: each("x", ["__proto__"]) });
    await s.post(path(s), { metadata: { name: "d" } });
    await s.delete(`${registration}/validatingadmissionpolicybindings/${s.namespace}`, undefined, { silent: true });
    await s.delete(`${registration}/validatingadmissionpolicies/${s.namespace}`, undefined, { silent: true });
  },
});
