import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { systemClock, systemRandom } from "setpoint/clock";
import { describe, expect, it, onTestFinished } from "vitest";
import type { JsonObject } from "../../api/json.js";
import { CertificateAuthority } from "../../auth/certificates/certificate-authority.js";
import { admittedPlane } from "../admitted-plane.testing.js";
import type { WebhookHandler } from "./webhook-caller.js";

// biome-ignore lint/suspicious/noExplicitAny: tests look into reviews and answers of every kind.
type Any = any;

const NAMES = {
  MutatingWebhookConfiguration: "mutatingwebhookconfigurations",
  ValidatingWebhookConfiguration: "validatingwebhookconfigurations",
} as const;

/** A plane whose webhooks are functions: the Service `hooks/<name>` leads to `handlers[name]`. */
async function plane(handlers: Record<string, WebhookHandler> = {}) {
  const { clock, request } = await admittedPlane(({ name }) =>
    handlers[name] ? { handler: handlers[name] } : undefined,
  );
  await request("POST", "/api/v1/namespaces", { metadata: { name: "team", labels: { q: "1" } } });
  const install = async (kind: keyof typeof NAMES, name: string, webhooks: object[]): Promise<void> => {
    const complete = webhooks.map((webhook) => ({
      name: `${name}.q.example`,
      admissionReviewVersions: ["v1"],
      sideEffects: "None",
      clientConfig: { service: { namespace: "hooks", name } },
      rules: [{ apiGroups: [""], apiVersions: ["*"], resources: ["configmaps"], operations: ["*"] }],
      ...webhook,
    }));
    const path = `/apis/admissionregistration.k8s.io/v1/${NAMES[kind]}`;
    const made = await request("POST", path, { metadata: { name }, webhooks: complete });
    if (made.status !== 201) throw new Error(JSON.stringify(made.body));
  };
  const create = (data: object = { a: "b" }, query = "", labels = {}): Promise<Any> =>
    request("POST", `/api/v1/namespaces/team/configmaps${query}`, { metadata: { name: "a", labels }, data });
  return { clock, request, install, create };
}

/** Records a value and answers. */
function noting<T>(notes: T[], note: T, answer: object): object {
  notes.push(note);
  return answer;
}

const review =
  (answer: (request: Any) => object): WebhookHandler =>
  async (body) => {
    const { request } = body as Any;
    return {
      apiVersion: "admission.k8s.io/v1",
      kind: "AdmissionReview",
      response: { uid: request.uid, ...answer(request) },
    } as JsonObject;
  };
const patch = (...operations: object[]) => ({
  allowed: true,
  patchType: "JSONPatch",
  patch: Buffer.from(JSON.stringify(operations)).toString("base64"),
});

describe("webhooks of an older review version", () => {
  const beta = (response: object, seen: Any[] = []): WebhookHandler => {
    return async (body) =>
      noting(seen, body as Any, { ...(body as object), request: undefined, response }) as JsonObject;
  };

  it("are called with it, and need neither a uid nor a patch type", async () => {
    const seen: Any[] = [];
    const operations = [{ op: "add", path: "/data/added", value: "x" }];
    const answer = { allowed: true, patch: Buffer.from(JSON.stringify(operations)).toString("base64") };
    const { install, create } = await plane({ m: beta(answer, seen) });
    await install("MutatingWebhookConfiguration", "m", [{ admissionReviewVersions: ["v0", "v1beta1", "v1"] }]);
    const { status, body } = await create();
    expect([status, body.data.added, seen[0].apiVersion]).toEqual([201, "x", "admission.k8s.io/v1beta1"]);
  });

  it("are not accepted with a response of another version", async () => {
    const other: WebhookHandler = async () =>
      ({ apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", response: { allowed: true } }) as JsonObject;
    const { install, create } = await plane({ v: other });
    await install("ValidatingWebhookConfiguration", "v", [{ admissionReviewVersions: ["v1beta1"] }]);
    const { status, body } = await create();
    expect([status, body.message]).toEqual([
      500,
      expect.stringContaining("converting (v1.AdmissionReview) to (v1beta1.AdmissionReview): unknown conversion"),
    ]);
  });
});

describe("validating webhooks", () => {
  it("see the request as the real server shows it", async () => {
    const seen: Any[] = [];
    const { install, create } = await plane({
      v: review((request) => noting(seen, request, { allowed: true, warnings: ["w1", "w2"] })),
    });
    await install("ValidatingWebhookConfiguration", "v", [{}]);
    const created = await create({ a: "b" }, "?dryRun=All");
    expect(created.status).toBe(201);
    expect(created.headers.warning).toEqual(['299 - "w1"', '299 - "w2"']);
    const { uid: _uid, object, ...rest } = seen[0];
    expect(rest).toEqual({
      kind: { group: "", version: "v1", kind: "ConfigMap" },
      resource: { group: "", version: "v1", resource: "configmaps" },
      requestKind: { group: "", version: "v1", kind: "ConfigMap" },
      requestResource: { group: "", version: "v1", resource: "configmaps" },
      name: "a",
      namespace: "team",
      operation: "CREATE",
      userInfo: { username: "admin", groups: ["system:masters", "system:authenticated"] },
      oldObject: null,
      dryRun: true,
      options: { kind: "CreateOptions", apiVersion: "meta.k8s.io/v1", dryRun: ["All"] },
    });
    expect(object).toMatchObject({ kind: "ConfigMap", apiVersion: "v1", metadata: { name: "a" }, data: { a: "b" } });
  });

  it.each([
    [{ allowed: false }, 400, undefined, "denied the request without explanation"],
    [
      { allowed: false, status: { message: "no way", code: 418, reason: "Teapot" } },
      418,
      "Teapot",
      "denied the request: no way",
    ],
    [{ allowed: false, status: { reason: "Teapot" } }, 400, "Teapot", "denied the request: Teapot"],
  ])("deny in the real server's words: %j", async (answer, code, reason, message) => {
    const { install, create } = await plane({ v: review(() => answer) });
    await install("ValidatingWebhookConfiguration", "v", [{}]);
    const { body } = await create();
    expect(body).toMatchObject({ code, message: `admission webhook "v.q.example" ${message}` });
    expect(body.reason).toBe(reason);
  });

  it.each([
    [
      async () => ({ apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview" }),
      "received invalid webhook response: webhook response was absent",
    ],
    [
      async () => ({ apiVersion: "v1", kind: "Pod" }),
      'failed to call webhook: no kind "Pod" is registered for version "v1" in scheme "pkg/runtime/scheme.go:111"',
    ],
    [
      async () => ({ apiVersion: "admission.k8s.io/v1beta1", kind: "AdmissionReview" }),
      "failed to call webhook: converting (v1beta1.AdmissionReview) to (v1.AdmissionReview): unknown conversion",
    ],
    [
      review(() => ({ uid: "x", allowed: true })),
      /^received invalid webhook response: expected response.uid="[0-9a-f-]{36}", got "x"$/,
    ],
    [
      review(() => patch({ op: "remove", path: "/data" })),
      "received invalid webhook response: validating webhook may not return response.patch",
    ],
  ] as [WebhookHandler, string | RegExp][])("fail in the real server's words (%#)", async (handler, expected) => {
    const { install, create } = await plane({ v: handler });
    await install("ValidatingWebhookConfiguration", "v", [{}]);
    const { body } = await create();
    expect(body).toMatchObject({ code: 500, reason: "InternalError" });
    const prefix = 'Internal error occurred: failed calling webhook "v.q.example": ';
    expect(body.message.startsWith(prefix)).toBe(true);
    expect(body.message.slice(prefix.length)).toEqual(
      typeof expected === "string" ? expected : expect.stringMatching(expected),
    );
  });

  it("fail if their Service does not exist, unless they may", async () => {
    const { install, create } = await plane();
    await install("ValidatingWebhookConfiguration", "gone", [{ timeoutSeconds: 2, failurePolicy: "Ignore" }]);
    expect((await create({}, "?dryRun=All")).status).toBe(201);
    await install("ValidatingWebhookConfiguration", "lost", [
      { timeoutSeconds: 2, clientConfig: { service: { namespace: "n", name: "nosvc", path: "/x" } } },
    ]);
    expect((await create()).body.message).toBe(
      'Internal error occurred: failed calling webhook "lost.q.example": failed to call webhook: Post "https://nosvc.n.svc:443/x?timeout=2s": service "nosvc" not found',
    );
  });

  it("time out by the clock", async () => {
    const { install, create, clock } = await plane({ slow: () => new Promise(() => {}) });
    await install("ValidatingWebhookConfiguration", "slow", [{ timeoutSeconds: 2 }]);
    const pending = create();
    await clock.advance(2000);
    expect((await pending).body.message).toBe(
      'Internal error occurred: failed calling webhook "slow.q.example": failed to call webhook: Post "https://slow.hooks.svc:443/?timeout=2s": context deadline exceeded',
    );
  });

  it("with side effects are not called in a dry run", async () => {
    const { install, create } = await plane({ v: review(() => ({ allowed: true })) });
    await install("ValidatingWebhookConfiguration", "v", [{ sideEffects: "NoneOnDryRun" }]);
    expect((await create({}, "?dryRun=All")).status).toBe(201);
  });

  it("are called by rule, label and namespace", async () => {
    const asked: string[] = [];
    const recording = (name: string) =>
      review(({ operation }) => noting(asked, `${name} ${operation}`, { allowed: true }));
    const names = ["scope", "object", "namespace", "update", "exact", "delete"];
    const { install, create, request } = await plane(Object.fromEntries(names.map((name) => [name, recording(name)])));
    const rule = { apiGroups: [""], apiVersions: ["*"], resources: ["configmaps"], operations: ["*"] };
    await install("ValidatingWebhookConfiguration", "scope", [
      { rules: [{ ...rule, resources: ["*"], scope: "Cluster" }] },
    ]);
    await install("ValidatingWebhookConfiguration", "object", [{ objectSelector: { matchLabels: { x: "1" } } }]);
    await install("ValidatingWebhookConfiguration", "namespace", [
      { namespaceSelector: { matchExpressions: [{ key: "q", operator: "NotIn", values: ["1"] }] } },
    ]);
    await install("ValidatingWebhookConfiguration", "update", [{ rules: [{ ...rule, operations: ["UPDATE"] }] }]);
    await install("ValidatingWebhookConfiguration", "exact", [
      { rules: [{ ...rule, apiVersions: ["v2"] }], matchPolicy: "Exact" },
    ]);
    await install("ValidatingWebhookConfiguration", "delete", [{ rules: [{ ...rule, operations: ["DELETE"] }] }]);
    await create({ a: "b" }, "", { x: "0" });
    expect(asked.splice(0)).toEqual([]);
    const path = "/api/v1/namespaces/team/configmaps/a";
    await request("PATCH", path, { metadata: { labels: { x: "1" } } }, "application/merge-patch+json");
    expect(asked.splice(0).sort()).toEqual(["object UPDATE", "update UPDATE"]);
    await request("DELETE", path);
    expect(asked.splice(0).sort()).toEqual(["delete DELETE", "object DELETE"]);
    await request("POST", "/api/v1/namespaces", { metadata: { name: "n2" } });
    expect(asked.splice(0).sort()).toEqual(["scope CREATE"]);
  });

  it("see equivalent versions in the version of their rules", async () => {
    const seen: Any[] = [];
    const { install, request } = await plane({ v: review((each) => noting(seen, each, { allowed: true })) });
    const rules = [
      { apiGroups: ["autoscaling"], apiVersions: ["v1"], resources: ["horizontalpodautoscalers"], operations: ["*"] },
    ];
    await install("ValidatingWebhookConfiguration", "v", [{ rules }]);
    const scaleTargetRef = { apiVersion: "apps/v1", kind: "Deployment", name: "d" };
    const metrics = [
      { type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 50 } } },
    ];
    await request("POST", "/apis/autoscaling/v2/namespaces/team/horizontalpodautoscalers", {
      metadata: { name: "h" },
      spec: { scaleTargetRef, maxReplicas: 2, metrics },
    });
    expect(seen[0]).toMatchObject({
      kind: { version: "v1" },
      requestKind: { version: "v2" },
      object: { apiVersion: "autoscaling/v1", spec: { targetCPUUtilizationPercentage: 50 } },
    });
  });
});

describe("mutating webhooks", () => {
  it("change the object one after another, ordered by configuration name", async () => {
    const add = (key: string) =>
      review(({ object }) =>
        patch({ op: "add", path: `/data/${key}`, value: String(Object.keys(object.data).length) }),
      );
    const { install, create } = await plane({ one: add("one"), two: add("two") });
    await install("MutatingWebhookConfiguration", "two", [{}]);
    await install("MutatingWebhookConfiguration", "one", [{}]);
    expect((await create()).body.data).toEqual({ a: "b", one: "1", two: "2" });
  });

  it("are called again if others changed the object after them and they want that", async () => {
    const calls: string[] = [];
    const handler = (name: string, answer: () => object) => review(() => noting(calls, name, answer()));
    const { install, create } = await plane({
      first: handler("first", () => ({ allowed: true })),
      never: handler("never", () => ({ allowed: true })),
      second: handler("second", () => patch({ op: "add", path: "/data/m", value: "1" })),
    });
    await install("MutatingWebhookConfiguration", "first", [{ reinvocationPolicy: "IfNeeded" }]);
    await install("MutatingWebhookConfiguration", "never", [{}]);
    await install("MutatingWebhookConfiguration", "second", [{ reinvocationPolicy: "IfNeeded" }]);
    await create();
    expect(calls).toEqual(["first", "never", "second", "first"]);
  });

  it.each([
    [
      { allowed: true, patchType: "JSONPatch", patch: Buffer.from("zzz").toString("base64") },
      "failed calling webhook \"m.q.example\": received undecodable patch in webhook response: invalid character 'z' looking for beginning of value",
    ],
    [
      patch({ op: "remove", path: "/data/zzz" }),
      "error in remove for path: '/data/zzz': Unable to remove nonexistent key: zzz: missing value",
    ],
    [
      { allowed: true, patch: Buffer.from("[]").toString("base64") },
      'failed calling webhook "m.q.example": received invalid webhook response: webhook returned response.patch but not response.patchType',
    ],
    [
      { allowed: true, patchType: "JSONPatch" },
      'failed calling webhook "m.q.example": received invalid webhook response: webhook returned response.patchType but not response.patch',
    ],
    [
      { ...patch({ op: "remove", path: "/data" }), patchType: "Foo" },
      'failed calling webhook "m.q.example": unsupported patch type "Foo"',
    ],
  ])("fail in the real server's words (%#)", async (answer, message) => {
    const { install, create } = await plane({ m: review(() => answer) });
    await install("MutatingWebhookConfiguration", "m", [{}]);
    expect((await create()).body).toMatchObject({ code: 500, message: `Internal error occurred: ${message}` });
  });

  it("never see webhook configurations", async () => {
    const { install } = await plane({ m: review(() => ({ allowed: false })) });
    await install("MutatingWebhookConfiguration", "m", [
      { rules: [{ apiGroups: ["*"], apiVersions: ["*"], resources: ["*"], operations: ["*"] }] },
    ]);
    await install("ValidatingWebhookConfiguration", "v", [{}]);
  });
});

describe("webhooks over TLS", () => {
  const authority = CertificateAuthority.create({ clock: systemClock, random: systemRandom });
  const caBundle = Buffer.from(authority.certificate).toString("base64");

  async function serve(
    answer: (body: string, path: string) => { status?: number; body: string } | undefined,
  ): Promise<string> {
    const { certificate, privateKey } = authority.issueServer("hook", ["127.0.0.1"]);
    const server: Server = createServer({ cert: certificate, key: privateKey }, (request, response) => {
      let text = "";
      request.on("data", (chunk) => (text += chunk));
      request.on("end", () => {
        const reply = answer(text, request.url ?? "");
        if (!reply) return request.socket.destroy();
        response.writeHead(reply.status ?? 200, { "content-type": "application/json" }).end(reply.body);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    return `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  async function messageOf(clientConfig: object): Promise<string> {
    const { install, create } = await plane();
    await install("ValidatingWebhookConfiguration", "v", [{ clientConfig, timeoutSeconds: 5 }]);
    const { status, body } = await create();
    return status === 201
      ? "created"
      : body.message.replace(
          'Internal error occurred: failed calling webhook "v.q.example": failed to call webhook: ',
          "",
        );
  }

  it("are called by URL with the CA of their configuration", async () => {
    const paths: string[] = [];
    const url = await serve((body, path) => {
      paths.push(path);
      const response = { uid: JSON.parse(body).request.uid, allowed: true };
      return { body: JSON.stringify({ apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", response }) };
    });
    expect(await messageOf({ url: `${url}/hook`, caBundle })).toBe("created");
    expect(paths).toEqual(["/hook?timeout=5s"]);
    expect(await messageOf({ url: `${url}/hook` })).toBe(
      `Post "${url}/hook?timeout=5s": tls: failed to verify certificate: x509: certificate signed by unknown authority`,
    );
  });

  it("fail in the words of Go's client", async () => {
    expect(await messageOf({ url: "https://127.0.0.1:1/x", caBundle })).toBe(
      'Post "https://127.0.0.1:1/x?timeout=5s": dial tcp 127.0.0.1:1: connect: connection refused',
    );
    const answering = async (status: number, body: string) =>
      messageOf({ url: await serve(() => ({ status, body })), caBundle });
    expect(await answering(500, "oops")).toBe(
      'an error on the server ("unknown") has prevented the request from succeeding',
    );
    expect(await answering(404, "")).toBe("the server could not find the requested resource");
    expect(await answering(400, '{"kind":"Status","message":"bad thing"}')).toBe("bad thing");
    expect(await answering(200, "")).toBe("0-length response with status code: 200 and content type: application/json");
    const closing = await serve(() => undefined);
    expect(await messageOf({ url: `${closing}/close`, caBundle })).toBe(`Post "${closing}/close?timeout=5s": EOF`);
  });
});
