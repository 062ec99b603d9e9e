import { describe, expect, it } from "vitest";
import { TestPlane, type TestRequest } from "../plane.testing.js";

const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";
const PODS = "/api/v1/namespaces/default/pods";
const CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const WIDGETS = "/apis/example.com/v1/namespaces/default/widgets";
const APPLY = "application/apply-patch+yaml";
const YAML = "application/yaml";
const MANY = 21_000;

const times = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, at) => make(at));
const data = Object.fromEntries(times(MANY, (at) => [`k${at}`, String(at)]));
const named = (more: object = {}, name = "x") => ({ metadata: { name }, ...more });
const widget = (spec: object) => ({ apiVersion: "example.com/v1", kind: "Widget", metadata: { name: "x" }, spec });

const crd = {
  metadata: { name: "widgets.example.com" },
  spec: {
    group: "example.com",
    scope: "Namespaced",
    names: { plural: "widgets", singular: "widget", kind: "Widget", listKind: "WidgetList" },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: "object",
            properties: {
              spec: {
                type: "object",
                properties: {
                  sizes: { type: "array", items: { type: "integer", maximum: 50_000 } },
                  color: { type: "string", default: "red" },
                },
              },
            },
          },
        },
      },
    ],
  },
};

type Step = readonly [method: string, target: string, request: TestRequest];
const post = (target: string, body: unknown, contentType?: string): Step => [
  "POST",
  target,
  { body, ...(contentType && { contentType }) },
];
const patch = (target: string, body: unknown, contentType: string): Step => ["PATCH", target, { body, contentType }];
const applied = { apiVersion: "v1", kind: "ConfigMap", ...named({ data }) };

const CASES: Readonly<Record<string, readonly Step[]>> = {
  "a create that is fine": [post(CONFIG_MAPS, named({ data })), ["GET", `${CONFIG_MAPS}/x`, {}]],
  "a create that is invalid": [post(CONFIG_MAPS, named({ data: { ...data, "%": "" } }))],
  "a create of an object of another kind": [
    post(CONFIG_MAPS, { kind: "Secret", apiVersion: "v1", ...named({ data }) }),
  ],
  "a create that cannot be decoded": [post(CONFIG_MAPS, named({ data: { ...data, wrong: 1 } }))],
  "a create with a name that is taken": [post(CONFIG_MAPS, named()), post(CONFIG_MAPS, named({ data }))],
  "a pod of many containers without anything": [post(PODS, named({ spec: { containers: times(MANY, () => ({})) } }))],
  "unknown and duplicate fields": [
    post(CONFIG_MAPS, `{"metadata":{"name":"x"},${times(MANY, (at) => `"x${at}":1`).join()},"data":{"a":"1","a":"2"}}`),
    post(
      `${CONFIG_MAPS}?fieldValidation=Strict`,
      `{"metadata":{"name":"y"},${times(MANY, (at) => `"x${at}":1`).join()}}`,
    ),
  ],
  "a text that is no JSON": [post(CONFIG_MAPS, `[${"1,".repeat(MANY)}`)],
  "an update": [
    post(CONFIG_MAPS, named()),
    ["PUT", `${CONFIG_MAPS}/x`, { body: named({ data }) }],
    ["PUT", `${CONFIG_MAPS}/x`, { body: named({ data }, "y") }],
    ["PUT", `${CONFIG_MAPS}/x`, { body: { metadata: { name: "x", resourceVersion: "1" }, data } }],
    ["PUT", `${CONFIG_MAPS}/none`, { body: named({ data }, "none") }],
  ],
  "an apply, then one that gives most of it up": [
    patch(`${CONFIG_MAPS}/x?fieldManager=m`, applied, APPLY),
    patch(`${CONFIG_MAPS}/x?fieldManager=m`, { ...applied, data: { k1: "1" } }, APPLY),
    patch(`${CONFIG_MAPS}/x?fieldManager=other`, { ...applied, data: { ...data, k1: "changed" } }, APPLY),
    ["GET", `${CONFIG_MAPS}/x`, {}],
  ],
  "merge, strategic and JSON patches": [
    post(CONFIG_MAPS, named()),
    patch(`${CONFIG_MAPS}/x`, { data }, "application/merge-patch+json"),
    patch(`${CONFIG_MAPS}/x`, { data: { ...data, k1: null } }, "application/strategic-merge-patch+json"),
    patch(`${CONFIG_MAPS}/x`, [{ op: "replace", path: "/data", value: data }], "application/json-patch+json"),
    patch(`${CONFIG_MAPS}/x`, { data: { ...data, "%": "" } }, "application/merge-patch+json"),
    patch(`${CONFIG_MAPS}/none`, { data }, "application/merge-patch+json"),
  ],
  "YAML, fine and wrong": [
    post(CONFIG_MAPS, `metadata: {name: x}\ndata:\n${times(MANY, (at) => `  k${at}: "1"\n`).join("")}`, YAML),
    post(CONFIG_MAPS, `metadata: {name: y}\ndata:\n${times(MANY, (at) => `  k${at}: 1\n`).join("")}`, YAML),
    post(CONFIG_MAPS, `metadata: {name: z}\ndata:\n${times(MANY, () => `  same: "1"\n`).join("")}`, YAML),
  ],
  "custom resources": [
    post(CRDS, crd),
    post(WIDGETS, widget({ sizes: times(MANY, (at) => at), unknown: 1 })),
    post(WIDGETS, { ...widget({ sizes: times(MANY, (at) => at * 3) }), metadata: { name: "y" } }),
    patch(`${WIDGETS}/x?fieldManager=m&force=true`, widget({ sizes: times(MANY, (at) => at + 1) }), APPLY),
    ["GET", `${WIDGETS}/x`, {}],
  ],
};

/** Values that differ between servers without being a difference. */
const normal = (body: unknown): unknown =>
  JSON.parse(JSON.stringify(body).replaceAll(/"uid":"[^"]*"|[0-9a-f]{8}-[0-9a-f-]{27}/g, '"uid":""'));

async function transcript(hasBodyThreads: boolean, steps: readonly Step[]): Promise<readonly unknown[]> {
  await using plane = await TestPlane.start({ hasBodyThreads });
  const answers: unknown[] = [];
  for (const [method, target, request] of steps) {
    const { status, headers, body } = await plane.request(method, target, request);
    answers.push({ status, warning: headers.warning, body: normal(body) });
    await plane.clock.settle();
  }
  return answers;
}

describe("a large write that a thread validates first", { timeout: 300_000 }, () => {
  it.each(Object.entries(CASES))("is answered like one without the thread: %s", async (_name, steps) => {
    expect(await transcript(true, steps)).toEqual(await transcript(false, steps));
  });

  it("is validated by the server if a webhook may change it first", async () => {
    await using plane = await TestPlane.start({
      admission: () => [
        {
          name: "Mender",
          mutate: async ({ object }) => ({ ...object!, data: { a: "b" } }) as never,
        },
      ],
    });
    const invalid = post(CONFIG_MAPS, named({ data: { ...data, "%": "" } }));
    expect((await plane.request(...invalid)).status).toBe(422);
    await plane.request("POST", "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations", {
      body: named({ webhooks: [] }, "some"),
    });
    expect((await plane.request(...invalid)).status).toBe(201);
  });
});
