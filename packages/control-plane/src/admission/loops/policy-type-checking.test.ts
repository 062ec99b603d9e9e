import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { TestPlane } from "../../registry/plane.testing.js";

const POLICIES = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies";

let plane: TestPlane;
beforeEach(async () => {
  plane = await TestPlane.start();
});
afterEach(() => plane[Symbol.asyncDispose]());

const rule = (apiGroup: string, resources: readonly string[], apiVersion = "v1") => ({
  apiGroups: [apiGroup],
  apiVersions: [apiVersion],
  operations: ["CREATE"],
  resources,
});

async function statusOf(spec: object) {
  await plane.request("POST", POLICIES, { body: { metadata: { name: "p" }, spec } });
  await plane.clock.settle();
  const { body } = await plane.request("GET", `${POLICIES}/p`);
  return body.status;
}

describe("type checking of policies", () => {
  it("warns of unknown fields and types, in the real server's words", async () => {
    const status = await statusOf({
      paramKind: { apiVersion: "v1", kind: "ConfigMap" },
      matchConstraints: { resourceRules: [rule("apps", ["statefulsets", "deployments"]), rule("", ["configmaps"])] },
      variables: [{ name: "r", expression: "object.spec.replicas" }],
      validations: [
        { expression: "object.metadata.name != ''" },
        { expression: "object.spec.foo > 5", messageExpression: "'a' + string(params.nope)" },
        { expression: "variables.r > 'a'" },
        { expression: "object.spec.strategy.rollingUpdate.maxSurge == 1" },
      ],
    });
    const foo = "\n | object.spec.foo > 5\n | ...........^\n";
    const nope = "undefined field 'nope'\n | 'a' + string(params.nope)\n | ...................^\n";
    const overload =
      "found no matching overload for '_>_' applied to '(int, string)'\n | variables.r > 'a'\n | ............^\n";
    const kinds = ["/v1, Kind=ConfigMap", "apps/v1, Kind=Deployment", "apps/v1, Kind=StatefulSet"];
    expect(status).toEqual({
      observedGeneration: 1,
      typeChecking: {
        expressionWarnings: [
          {
            fieldRef: "spec.validations[1].expression",
            warning: [
              `${kinds[0]}: ERROR: <input>:1:7: undefined field 'spec'\n | object.spec.foo > 5\n | ......^\n`,
              `${kinds[1]}: ERROR: <input>:1:12: undefined field 'foo'${foo}`,
              `${kinds[2]}: ERROR: <input>:1:12: undefined field 'foo'${foo}`,
            ].join("\n"),
          },
          {
            fieldRef: "spec.validations[1].messageExpression",
            warning: kinds.map((kind) => `${kind}: ERROR: <input>:1:20: ${nope}`).join("\n"),
          },
          {
            fieldRef: "spec.validations[2].expression",
            warning: kinds
              .slice(1)
              .map((kind) => `${kind}: ERROR: <input>:1:13: ${overload}`)
              .join("\n"),
          },
          {
            fieldRef: "spec.validations[3].expression",
            warning: [
              `${kinds[0]}: ERROR: <input>:1:7: undefined field 'spec'\n | object.spec.strategy.rollingUpdate.maxSurge == 1\n | ......^\n`,
              `${kinds[2]}: ERROR: <input>:1:12: undefined field 'strategy'\n | object.spec.strategy.rollingUpdate.maxSurge == 1\n | ...........^\n`,
            ].join("\n"),
          },
        ],
      },
    });
  });

  it("records that it checked if there is nothing to warn about", async () => {
    const status = await statusOf({
      matchConstraints: { resourceRules: [rule("*", ["*"], "*")] },
      validations: [{ expression: "object.spec.anything == 1" }],
    });
    expect(status).toEqual({ observedGeneration: 1, typeChecking: {} });
  });

  it("checks a changed policy again", async () => {
    const constraints = { resourceRules: [rule("", ["configmaps"])] };
    await statusOf({ matchConstraints: constraints, validations: [{ expression: "object.spec == 1" }] });
    const { body } = await plane.request("GET", `${POLICIES}/p`);
    const spec = { ...body.spec, validations: [{ expression: "object.data.size() > 0" }] };
    await plane.request("PUT", `${POLICIES}/p`, { body: { ...body, spec } });
    await plane.clock.settle();
    const { body: changed } = await plane.request("GET", `${POLICIES}/p`);
    expect(changed.status).toEqual({ observedGeneration: 2, typeChecking: {} });
  });
});
