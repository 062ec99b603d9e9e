import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { TestPlane } from "../../registry/plane.testing.js";
import { mountableSecrets } from "./mountable-secrets.js";

const PODS = "/api/v1/namespaces/default/pods";

let plane: TestPlane;
beforeEach(async () => {
  plane = await TestPlane.start({ admission: (storage) => [mountableSecrets(storage)] });
  await account("strict", "true");
  await account("lax", "no");
});
afterEach(() => plane[Symbol.asyncDispose]());

const account = (name: string, enforced: string) =>
  plane.request("POST", "/api/v1/namespaces/default/serviceaccounts", {
    body: {
      metadata: { name, annotations: { "kubernetes.io/enforce-mountable-secrets": enforced } },
      secrets: [{ name: "mine" }],
      imagePullSecrets: [{ name: "pull" }],
    },
  });

const create = async (spec: object, serviceAccountName = "strict") => {
  const containers = [{ name: "c", image: "i" }];
  const body = { metadata: { name: "a" }, spec: { serviceAccountName, containers, ...spec } };
  return plane.request("POST", `${PODS}?dryRun=All`, { body });
};

const variable = (name: string) => [{ name: "V", valueFrom: { secretKeyRef: { name, key: "k" } } }];
const container = (more: object) => [{ name: "c", image: "i", ...more }];
const volume = (secretName: string) => ({ volumes: [{ name: "v", secret: { secretName } }] });

describe("an account that lists its secrets", () => {
  it.each([
    ["volumes", volume("theirs"), 'volume with secret.secretName="theirs"', "secret"],
    [
      "variables",
      { containers: container({ env: variable("theirs") }) },
      'container c with envVar V referencing secret.secretName="theirs"',
      "secret",
    ],
    [
      "variables of init containers",
      { initContainers: [{ name: "i", image: "i", env: variable("theirs") }] },
      'init container i with envVar V referencing secret.secretName="theirs"',
      "secret",
    ],
    [
      "environments",
      { containers: container({ envFrom: [{ secretRef: { name: "theirs" } }] }) },
      'container c with envFrom referencing secret.secretName="theirs"',
      "secret",
    ],
    ["pull secrets", { imagePullSecrets: [{ name: "mine" }] }, 'imagePullSecrets[0].name="mine"', "imagePullSecret"],
  ])("refuses other secrets to its pods in %s", async (_where, spec, use, what) => {
    const { status, body } = await create(spec);
    const why = `${use} is not allowed because service account strict does not reference that ${what}`;
    expect([status, body.message]).toEqual([403, `pods "a" is forbidden: ${why}`]);
    expect((await create(spec, "lax")).status).toBe(201);
  });

  it("allows these to its pods", async () => {
    const spec = {
      ...volume("mine"),
      containers: container({ env: variable("mine"), envFrom: [{ secretRef: { name: "mine" } }] }),
      imagePullSecrets: [{ name: "pull" }],
    };
    expect((await create(spec)).status).toBe(201);
  });
});
