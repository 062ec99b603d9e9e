import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import { runMain } from "../testing/command-line.js";

/** Within the package, so that its modules resolve `setpoint`. */
const folder = mkdtempSync(join(fileURLToPath(new URL(".", import.meta.url)), "../../dist/code-test-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const file = (name: string, text: string): string => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};

const KIND = `
import { resource } from "setpoint";
export interface Words { readonly greeting: string }
const spec = { type: "object", properties: { greeting: { type: "string" } } } as const;
export const Greeter = resource("example.com/v1/Greeter", { spec });
`;
const LOOP = `
import { controller } from "setpoint";
import { ConfigMap } from "setpoint/kinds/v1";
import { Greeter } from "./kind.ts";
export const greeters = [controller(Greeter, { owns: [ConfigMap], reconcile: async (): Promise<void> => {} })];
`;

interface Printed {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly rules?: readonly object[];
}

const documents = (text: string): Printed[] => [...parseAllDocuments(text)].map((document) => document.toJS());

describe("setpoint crds and rbac", () => {
  it("read a TypeScript module, with the files that it imports", async () => {
    file("kind.ts", KIND);
    const loop = file("loop.ts", LOOP);
    const crds = await runMain(["crds", loop]);
    expect(crds).toMatchObject({ code: 0, err: "" });
    expect(documents(crds.out)).toMatchObject([
      { kind: "CustomResourceDefinition", metadata: { name: "greeters.example.com" } },
    ]);
    const rbac = documents((await runMain(["rbac", loop, "--leader-elect", "-n", "ops"])).out);
    expect(rbac.map(({ kind, metadata }) => `${kind} ${metadata.namespace ?? ""}/${metadata.name}`)).toEqual([
      "ServiceAccount ops/loop",
      "ClusterRole /loop",
      "ClusterRoleBinding /loop",
      "Role ops/loop",
      "RoleBinding ops/loop",
    ]);
    expect(rbac[1]?.rules?.[0]).toEqual({
      apiGroups: ["example.com"],
      resources: ["greeters"],
      verbs: ["get", "list", "watch"],
    });
    // The command does not know the name of the Lease: any name is granted, or that of --name.
    const leases = (printed: typeof rbac) => printed[3]?.rules?.find((rule) => JSON.stringify(rule).includes("update"));
    expect(leases(rbac)).not.toHaveProperty("resourceNames");
    const named = documents((await runMain(["rbac", loop, "--leader-elect", "-n", "ops", "--name", "shop"])).out);
    expect(leases(named)).toHaveProperty("resourceNames", ["shop"]);
  });

  it("find kinds and controllers in apps", async () => {
    file("kind.ts", KIND);
    const path = file(
      "shop.ts",
      `import { app, controller } from "setpoint";
import { Greeter } from "./kind.ts";
const greeters = controller(Greeter, { reconcile: async (): Promise<void> => {} });
export const shop = app({ name: "shop", kinds: [Greeter], loops: [greeters] });
`,
    );
    expect(documents((await runMain(["crds", path])).out)).toMatchObject([
      { metadata: { name: "greeters.example.com" } },
    ]);
    const [, role] = documents((await runMain(["rbac", path])).out);
    expect(role?.rules).toContainEqual({
      apiGroups: ["apiextensions.k8s.io"],
      resources: ["customresourcedefinitions"],
      resourceNames: ["greeters.example.com"],
      verbs: ["get", "list", "watch", "update"],
    });
  });

  const CONVERTING = `
import { app, resource, validating } from "setpoint";
const old = { type: "object", properties: { a: { type: "string" } } } as const;
const V1alpha1 = resource("example.com/v1alpha1/Order", { spec: old });
export const V1 = resource("example.com/v1/Order", { spec: old });
export const Order = V1.withVersion(V1alpha1, { up: (order) => order, down: (order) => order });
export const OrderV1alpha1 = V1alpha1;
export const shop = app({ name: "shop", kinds: [Order], validate: [validating(Order, { create() {} })] });
`;

  it("require the Service of the webhooks of apps", async () => {
    const path = file("converting.ts", CONVERTING);
    expect(await runMain(["crds", path])).toMatchObject({
      code: 2,
      err: expect.stringContaining(
        "Order has a conversion webhook: name the Service of its app with --webhook-service",
      ),
    });
    const crds = await runMain(["crds", path, "--webhook-service", "ops/shop"]);
    const clientConfig = { service: { namespace: "ops", name: "shop", path: "/shop/convert" } };
    expect(documents(crds.out)).toMatchObject([
      { spec: { versions: [{ name: "v1" }, { name: "v1alpha1" }], conversion: { webhook: { clientConfig } } } },
    ]);
    const args = ["rbac", path, "--install", "--image", "example.com/shop:1", "--namespace", "ops"];
    expect((await runMain(args)).err).toContain("the module has webhooks; name their Service");
    const installed = documents((await runMain([...args, "--webhook-service", "ops/shop"])).out);
    const ofKind = (kind: string): unknown => installed.filter((one) => one.kind === kind).at(-1);
    expect(ofKind("Service")).toMatchObject({ spec: { ports: [{ port: 443, targetPort: "webhooks" }] } });
    expect(ofKind("Role")).toMatchObject({
      rules: expect.arrayContaining([expect.objectContaining({ resourceNames: ["shop-webhook-certificate"] })]),
    });
    expect(ofKind("Deployment")).toMatchObject({
      spec: { template: { spec: { containers: [{ image: "example.com/shop:1", env: expect.any(Array) }] } } },
    });
    expect((await runMain(["crds", path, "--webhook-service", "shop"])).err).toContain("expected NAMESPACE/NAME");
  });

  it("configure the installed module by the variables that its manifests expect", async () => {
    file("kind.ts", KIND);
    const args = ["rbac", file("loop.ts", LOOP), "--install", "--image", "example.com/loop:1"];
    const installed = documents((await runMain(args)).out);
    expect(installed.map(({ kind }) => kind)).toEqual([
      ...["Namespace", "ServiceAccount", "ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding", "Deployment"],
    ]);
    // More than the 30 s that runs may take to end, with a second process that takes over.
    expect(installed.at(-1)).toMatchObject({
      spec: { replicas: 2, template: { spec: { terminationGracePeriodSeconds: 60 } } },
    });
    const text = JSON.stringify(installed.at(-1));
    expect(text).toContain('{"name":"SETPOINT_LEADER_ELECTION","value":"true"}');
    expect(text).not.toContain('"args"');
  });

  it("name what is missing", async () => {
    expect(await runMain(["crds", "/no/such.ts"])).toMatchObject({
      code: 2,
      err: expect.stringContaining("no such file"),
    });
    const empty = file("empty.ts", "export const a: number = 1;\n");
    expect((await runMain(["rbac", empty])).err).toContain(
      "exports no resource(…), controller(…), watcher(…) or app(…)",
    );
    expect((await runMain(["rbac", file("kind.ts", KIND)])).err).toContain(
      "exports no controller(…), watcher(…) or app(…): export what it declares. The command calls no functions",
    );
    expect((await runMain(["rbac", "rancher-projects", "--install"])).err).toContain("--image");
  });

  it("print the definitions of a ready-made operator", async () => {
    const { code, out } = await runMain(["crds", "druid"]);
    expect(code).toBe(0);
    expect(out.match(/^ {2}name: .*/gm)).toEqual([
      "  name: druids.druid.apache.org",
      "  name: druidingestions.druid.apache.org",
    ]);
  });

  it("print the installation of a ready-made operator", async () => {
    const { code, out } = await runMain(["rbac", "rancher-projects", "--install", "--image", "example.com/setpoint:1"]);
    expect(code).toBe(0);
    const objects = documents(out);
    expect(objects.map(({ kind }) => kind)).toEqual([
      ...["Namespace", "ServiceAccount", "ClusterRole", "ClusterRoleBinding"],
      ...["Role", "RoleBinding", "Role", "RoleBinding", "Deployment"],
    ]);
    expect(objects[2]?.rules).toEqual([
      { apiGroups: [""], resources: ["namespaces"], verbs: ["get", "list", "watch", "patch"] },
      { apiGroups: ["management.cattle.io"], resources: ["projects"], verbs: ["get", "list", "watch"] },
      { apiGroups: ["authentication.k8s.io"], resources: ["tokenreviews"], verbs: ["create"] },
      { apiGroups: ["authorization.k8s.io"], resources: ["subjectaccessreviews"], verbs: ["create"] },
    ]);
    const management = documents((await runMain(["rbac", "rancher-projects", "--management-cluster"])).out);
    expect(management[1]?.rules).toEqual([
      { apiGroups: ["management.cattle.io"], resources: ["projects"], verbs: ["get", "list", "watch"] },
    ]);
  });
});
