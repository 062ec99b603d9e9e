import { systemClock } from "setpoint/clock";
import { area } from "../../case.js";
import type { Body, Session } from "../../session.js";
import type { HookAnswer } from "../../webhook-server.js";
import { widget, widgetPath, widgets } from "../custom/widgets.js";

const registration = "/apis/admissionregistration.k8s.io/v1";
const configMaps = (s: Session): string => `/api/v1/namespaces/${s.namespace}/configmaps`;
const PROBE = "probe";

interface Hook {
  readonly type: "mutating" | "validating";
  readonly name: string;
  readonly answer: (request: Body) => HookAnswer;
  readonly extra?: object;
}

const review = (request: Body, response: object): HookAnswer => ({
  body: {
    apiVersion: "admission.k8s.io/v1",
    kind: "AdmissionReview",
    response: { uid: request.request.uid, ...response },
  },
});
const allow = (request: Body, extra: object = {}): HookAnswer => review(request, { allowed: true, ...extra });
const deny = (request: Body, status?: object): HookAnswer =>
  review(request, { allowed: false, ...(status ? { status } : {}) });
const patch = (request: Body, operations: readonly object[]): HookAnswer =>
  allow(request, { patchType: "JSONPatch", patch: Buffer.from(JSON.stringify(operations)).toString("base64") });

/**
 * Installs the hooks for config maps of the case's namespace and waits until each is called. Returns the requests that
 * they got since.
 */
async function install(s: Session, hooks: readonly Hook[]): Promise<readonly Body[]> {
  const asked: Body[] = [];
  const seen = new Set<string>();
  for (const type of ["mutating", "validating"] as const) {
    const chosen = hooks.filter((hook) => hook.type === type);
    if (chosen.length === 0) continue;
    const webhooks = chosen.map((hook) => ({
      name: `${hook.name}.example.com`,
      clientConfig: {
        caBundle: s.hooks.caBundle,
        url: s.hooks.serve(`/${s.namespace}/${hook.name}`, (request) => {
          if (request.request.name === PROBE) seen.add(hook.name);
          if (request.request.name !== "a") return allow(request);
          asked.push(request);
          return hook.answer(request);
        }),
      },
      rules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["*"], resources: ["configmaps"] }],
      namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": s.namespace } },
      sideEffects: "None",
      admissionReviewVersions: ["v1"],
      timeoutSeconds: 5,
      ...hook.extra,
    }));
    await s.post(
      `${registration}/${type}webhookconfigurations`,
      { metadata: { name: s.namespace }, webhooks },
      { silent: true },
    );
  }
  for (let tries = 0; tries < 200 && seen.size < hooks.length; tries++) {
    await s.post(`${configMaps(s)}?dryRun=All`, { metadata: { name: PROBE } }, { silent: true });
    await systemClock.sleep(25);
  }
  return asked;
}

async function remove(s: Session): Promise<void> {
  for (const type of ["mutating", "validating"])
    await s.delete(`${registration}/${type}webhookconfigurations/${s.namespace}`, undefined, { silent: true });
}

/** Installs, tries one or more writes, removes. */
const withHooks =
  (hooks: readonly Hook[], tries: (s: Session, asked: readonly Body[]) => Promise<void>) =>
  async (s: Session): Promise<void> => {
    try {
      await tries(s, await install(s, hooks));
    } finally {
      await remove(s);
    }
  };

const create = (s: Session, data: object = {}, query = ""): Promise<unknown> =>
  s.post(`${configMaps(s)}${query}`, { metadata: { name: "a" }, data });

export const webhookCases = area("webhooks", {
  "a validating hook denies": withHooks(
    [{ type: "validating", name: "v", answer: (r) => deny(r, { message: "not today", code: 418, reason: "Teapot" }) }],
    async (s) => {
      await create(s);
    },
  ),
  "a validating hook denies without a word": withHooks(
    [{ type: "validating", name: "v", answer: (r) => deny(r) }],
    async (s) => {
      await create(s);
    },
  ),
  "a validating hook warns": withHooks(
    [{ type: "validating", name: "v", answer: (r) => allow(r, { warnings: ["mind the gap", 'and "quotes"'] }) }],
    async (s) => {
      await create(s);
    },
  ),
  "a mutating hook changes the object": withHooks(
    [
      {
        type: "mutating",
        name: "m",
        answer: (r) =>
          patch(r, [
            { op: "add", path: "/data/added", value: "x" },
            { op: "add", path: "/metadata/labels", value: { l: "1" } },
          ]),
      },
    ],
    async (s) => {
      await create(s, { k: "v" });
    },
  ),
  "mutating hooks run in order and again": withHooks(
    [
      {
        type: "mutating",
        name: "a",
        extra: { reinvocationPolicy: "IfNeeded" },
        answer: (r) =>
          patch(r, [{ op: "add", path: "/data/a", value: r.request.object.data.b ? "after b" : "before b" }]),
      },
      { type: "mutating", name: "b", answer: (r) => patch(r, [{ op: "add", path: "/data/b", value: "1" }]) },
    ],
    async (s, asked) => {
      await create(s, { k: "v" });
      s.note("calls", asked.length);
    },
  ),
  "what a hook is told": withHooks([{ type: "validating", name: "v", answer: (r) => allow(r) }], async (s, asked) => {
    await create(s, { k: "v" });
    await s.patch("merge", `${configMaps(s)}/a?fieldManager=me`, { data: { k: "w" } });
    await s.delete(`${configMaps(s)}/a`, { propagationPolicy: "Background" });
    s.note(
      "asked",
      // The administrator of the real server has a token, ours a certificate: only the former has a uid.
      asked.map(({ request }) => ({ ...request, userInfo: { ...request.userInfo, uid: undefined } })),
    );
  }),
  "a dry run is told": withHooks([{ type: "validating", name: "v", answer: (r) => allow(r) }], async (s, asked) => {
    await create(s, {}, "?dryRun=All");
    s.note(
      "dry run",
      asked.map((each) => each.request.dryRun),
    );
  }),
  "a hook that breaks, failing closed": withHooks(
    [{ type: "validating", name: "v", answer: () => ({ status: 500, text: "broken" }) }],
    async (s) => {
      const reply = await s.post(configMaps(s), { metadata: { name: "a" } }, { silent: true });
      s.note("answer", [reply.status, reply.body.reason, reply.body.message.replace(/127\.0\.0\.1:\d+/g, "host")]);
    },
  ),
  "a hook that breaks, failing open": withHooks(
    [
      {
        type: "validating",
        name: "v",
        extra: { failurePolicy: "Ignore" },
        answer: () => ({ status: 500, text: "broken" }),
      },
    ],
    async (s) => {
      await create(s);
    },
  ),
  "a hook that does not answer": withHooks(
    [{ type: "validating", name: "v", extra: { timeoutSeconds: 1 }, answer: () => undefined }],
    async (s) => {
      const reply = await s.post(configMaps(s), { metadata: { name: "a" } }, { silent: true });
      s.note("answer", [reply.status, reply.body.reason, reply.body.message.replace(/127\.0\.0\.1:\d+/g, "host")]);
    },
  ),
  "a hook that answers nonsense": withHooks(
    [
      {
        type: "validating",
        name: "v",
        answer: () => ({
          body: {
            apiVersion: "admission.k8s.io/v1",
            kind: "AdmissionReview",
            response: { uid: "other", allowed: true },
          },
        }),
      },
    ],
    async (s) => {
      const reply = await s.post(configMaps(s), { metadata: { name: "a" } }, { silent: true });
      s.note("answer", [reply.status, reply.body.reason]);
    },
  ),
  "a patch that does not apply": withHooks(
    [{ type: "mutating", name: "m", answer: (r) => patch(r, [{ op: "remove", path: "/data/none" }]) }],
    async (s) => {
      const reply = await s.post(configMaps(s), { metadata: { name: "a" }, data: {} }, { silent: true });
      s.note("answer", [reply.status, reply.body.reason]);
    },
  ),
  "an object selector": withHooks(
    [
      {
        type: "validating",
        name: "v",
        extra: { objectSelector: { matchLabels: { check: "yes" } }, failurePolicy: "Ignore" },
        answer: (r) => deny(r),
      },
    ],
    async (s) => {
      await s.post(configMaps(s), { metadata: { name: "a" } });
    },
  ),
  ...Object.fromEntries(
    Object.entries({
      "in the older one": { versions: ["v1beta1"] },
      "in the first that is known": { versions: ["v2", "v1beta1", "v1"] },
      "in the newer one": { versions: ["v1", "v1beta1"] },
    }).map(([how, { versions }]) => [
      `is asked in its own version: ${how}`,
      withHooks(
        [
          {
            type: "mutating",
            name: "m",
            extra: { admissionReviewVersions: versions },
            answer: (r) => ({
              body: {
                apiVersion: r.apiVersion,
                kind: r.kind,
                response: {
                  uid: r.request.uid,
                  allowed: true,
                  ...(r.apiVersion.endsWith("/v1") && { patchType: "JSONPatch" }),
                  patch: Buffer.from('[{"op":"add","path":"/metadata/labels","value":{"l":"1"}}]').toString("base64"),
                },
              },
            }),
          },
        ],
        async (s, asked) => {
          await create(s);
          s.note(
            "asked",
            asked.map(({ request, ...rest }) => ({ ...rest, fields: Object.keys(request).sort() })),
          );
        },
      ),
    ]),
  ),
  ...Object.fromEntries(
    Object.entries({
      "without a uid": (r: Body): HookAnswer => ({
        body: { apiVersion: r.apiVersion, kind: r.kind, response: { allowed: true } },
      }),
      "without a kind": (r: Body): HookAnswer => ({ body: { response: { uid: r.request.uid, allowed: true } } }),
      "of the other version": (r: Body): HookAnswer => ({
        body: {
          apiVersion: r.apiVersion.endsWith("/v1") ? "admission.k8s.io/v1beta1" : "admission.k8s.io/v1",
          kind: r.kind,
          response: { uid: r.request.uid, allowed: true },
        },
      }),
      "without a response": (r: Body): HookAnswer => ({ body: { apiVersion: r.apiVersion, kind: r.kind } }),
      "of another kind": (): HookAnswer => ({ body: { apiVersion: "v1", kind: "Status", status: "Success" } }),
      "that denies": (r: Body): HookAnswer => ({
        body: { apiVersion: r.apiVersion, kind: r.kind, response: { allowed: false, status: { message: "no" } } },
      }),
    }).flatMap(([what, answer]) =>
      ["v1", "v1beta1"].map((version) => [
        `an answer in ${version} ${what}`,
        withHooks(
          [{ type: "validating", name: "v", extra: { admissionReviewVersions: [version] }, answer }],
          async (s) => {
            await create(s);
          },
        ),
      ]),
    ),
  ),
  "a configuration that is wrong": async (s) => {
    const hook = {
      name: "v.example.com",
      clientConfig: { url: "https://127.0.0.1:1/" },
      sideEffects: "None",
      admissionReviewVersions: ["v1"],
      rules: [],
    };
    const post = (webhooks: readonly object[]): Promise<unknown> =>
      s.post(`${registration}/validatingwebhookconfigurations?dryRun=All`, {
        metadata: { name: s.namespace },
        webhooks,
      });
    await post([{ ...hook, name: "short" }]);
    await post([{ ...hook, sideEffects: "Some" }]);
    for (const versions of [["v0"], [], ["v1", "v1"], ["v1beta1"], ["v0", "v1beta1"]])
      await post([{ ...hook, admissionReviewVersions: versions }]);
    await post([{ ...hook, clientConfig: {} }]);
    await post([{ ...hook, clientConfig: { url: "http://127.0.0.1/" } }]);
    await post([{ ...hook, timeoutSeconds: 31 }]);
    await post([hook, hook]);
  },
  conversion: async (s) => {
    const schema = {
      openAPIV3Schema: {
        type: "object",
        properties: { spec: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
      },
    };
    const url = s.hooks.serve(`/${s.namespace}/convert`, ({ request }) => ({
      body: {
        apiVersion: "apiextensions.k8s.io/v1",
        kind: "ConversionReview",
        response: {
          uid: request.uid,
          result: { status: "Success" },
          convertedObjects: request.objects.map((each: Body) => ({
            ...each,
            apiVersion: request.desiredAPIVersion,
            spec: { ...each.spec, converted: request.desiredAPIVersion.split("/")[1] },
          })),
        },
      },
    }));
    const conversion = {
      strategy: "Webhook",
      webhook: { clientConfig: { url, caBundle: s.hooks.caBundle }, conversionReviewVersions: ["v1"] },
    };
    const definition = widgets(s, {}, { crd: { conversion } });
    definition.spec.versions = [
      { name: "v1", served: true, storage: true, schema },
      { name: "v2", served: true, storage: false, schema },
    ];
    await s.crd(definition);
    await s.post(widgetPath(s), widget(s, "w", { a: 1 }));
    await s.get(`${widgetPath(s).replace("/v1/", "/v2/")}/w`);
    await s.post(widgetPath(s).replace("/v1/", "/v2/"), { ...widget(s, "x", { a: 2 }), apiVersion: `${s.group}/v2` });
    await s.get(widgetPath(s));
  },
});
