import { describe, expect, it } from "vitest";
import type { TestAnswer } from "../../registry/plane.testing.js";
import { admittedPlane } from "../admitted-plane.testing.js";

const REGISTRATION = "/apis/admissionregistration.k8s.io/v1";
const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";

async function plane() {
  const { request } = await admittedPlane();
  const post = (path: string, body: object): Promise<TestAnswer> => request("POST", path, body);
  await post("/api/v1/namespaces", { metadata: { name: "default" } });
  return { post };
}

const policy = (spec: object): object => ({
  metadata: { name: "p" },
  spec: {
    matchConstraints: {
      resourceRules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["configmaps"] }],
    },
    ...spec,
  },
});

const binding = (spec: object = {}): object => ({
  metadata: { name: "b" },
  spec: { policyName: "p", validationActions: ["Deny"], ...spec },
});

describe("admission policies", () => {
  it("refuse objects that fail their expressions, in the words of the real server", async () => {
    const { post } = await plane();
    const validations = [{ expression: "object.data.a == 'x'", messageExpression: "'not ' + object.data.a" }];
    await post(`${REGISTRATION}/validatingadmissionpolicies`, policy({ validations }));
    expect((await post(CONFIG_MAPS, { metadata: { name: "free" }, data: { a: "y" } })).status).toBe(201);
    await post(`${REGISTRATION}/validatingadmissionpolicybindings`, binding());
    expect((await post(CONFIG_MAPS, { metadata: { name: "fine" }, data: { a: "x" } })).status).toBe(201);
    const { status, body } = await post(CONFIG_MAPS, { metadata: { name: "bad" }, data: { a: "y" } });
    expect(status).toBe(422);
    expect(body.message).toBe(
      `configmaps "bad" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: not y`,
    );
  });

  it("warn if a binding asks for that", async () => {
    const { post } = await plane();
    await post(`${REGISTRATION}/validatingadmissionpolicies`, policy({ validations: [{ expression: "false" }] }));
    await post(`${REGISTRATION}/validatingadmissionpolicybindings`, binding({ validationActions: ["Warn"] }));
    const { status, headers } = await post(CONFIG_MAPS, { metadata: { name: "a" } });
    expect(status).toBe(201);
    expect(String(headers.warning)).toContain("failed expression: false");
  });

  it("use params, variables and the authorizer", async () => {
    const { post } = await plane();
    const spec = {
      paramKind: { apiVersion: "v1", kind: "ConfigMap" },
      variables: [{ name: "max", expression: "int(params.data.max)" }],
      validations: [
        { expression: "object.data.size() <= variables.max" },
        { expression: "authorizer.group('').resource('pods').check('create').allowed()" },
      ],
    };
    await post(CONFIG_MAPS, { metadata: { name: "limits" }, data: { max: "1" } });
    await post(`${REGISTRATION}/validatingadmissionpolicies`, policy(spec));
    const paramRef = { name: "limits", parameterNotFoundAction: "Deny" };
    await post(`${REGISTRATION}/validatingadmissionpolicybindings`, binding({ paramRef }));
    expect((await post(CONFIG_MAPS, { metadata: { name: "a" }, data: { a: "1" } })).status).toBe(201);
    expect((await post(CONFIG_MAPS, { metadata: { name: "b" }, data: { a: "1", b: "2" } })).status).toBe(422);
  });

  it("are refused if they do not compile", async () => {
    const { post } = await plane();
    const validations = [{ expression: "object.a +" }, { expression: "1" }];
    const { status, body } = await post(`${REGISTRATION}/validatingadmissionpolicies`, policy({ validations }));
    expect(status).toBe(422);
    expect(body.message).toContain("Syntax error: mismatched input '<EOF>'");
    expect(body.message).toContain("must evaluate to bool but got int");
  });
});
