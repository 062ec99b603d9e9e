import { describe, expect, expectTypeOf, it } from "vitest";
import { CustomResourceDefinition } from "./builtin/apiextensions.k8s.io/v1.js";
import { Deployment } from "./builtin/apps/v1.js";
import { ConfigMap, type Container, Namespace, Pod } from "./builtin/v1.js";
import type { Kind, ObjectOf } from "./kind.js";
import { pluralOf } from "./kind-id.js";
import type { KubeObject, NewObject } from "./object.js";
import { kind, untypedKind } from "./untyped-kind.js";

interface Certificate extends KubeObject {
  readonly apiVersion: "cert-manager.io/v1";
  readonly kind: "Certificate";
  readonly spec: { readonly secretName: string };
}

describe("a kind without a schema", () => {
  it("is untyped, or typed by hand", () => {
    const Untyped = untypedKind("cert-manager.io/v1/Certificate");
    expect(Untyped).toEqual({
      group: "cert-manager.io",
      version: "v1",
      kind: "Certificate",
      apiVersion: "cert-manager.io/v1",
      plural: "certificates",
      scope: "Namespaced",
    });
    expectTypeOf<ObjectOf<typeof Untyped>["spec"]>().toEqualTypeOf<unknown>();
    const Typed = kind<Certificate>("cert-manager.io/v1/Certificate", { plural: "certs", scope: "Cluster" });
    expect(Typed).toMatchObject({ plural: "certs", scope: "Cluster" });
    expectTypeOf(Typed).toEqualTypeOf<Kind<Certificate>>();
    // @ts-expect-error the identifier must be that of the type
    expect(kind<Certificate>("cert-manager.io/v1/Issuer").kind).toBe("Issuer");
  });

  it("of the core group has no group", () => {
    expect(untypedKind("v1/Pod")).toMatchObject({ group: "", version: "v1", apiVersion: "v1", plural: "pods" });
  });

  it.each([
    ["Website", "websites"],
    ["Policy", "policies"],
    ["Gateway", "gateways"],
    ["Ingress", "ingresses"],
    ["Mailbox", "mailboxes"],
    ["Branch", "branches"],
  ])("%s is %s in the plural", (name, plural) => {
    expect(pluralOf(name)).toBe(plural);
  });
});

describe("a built-in kind", () => {
  it("is a descriptor and a type of one name", () => {
    expect(Deployment).toEqual({
      group: "apps",
      version: "v1",
      kind: "Deployment",
      apiVersion: "apps/v1",
      plural: "deployments",
      scope: "Namespaced",
    });
    expect([Pod.apiVersion, Namespace.scope, CustomResourceDefinition.plural]).toEqual([
      "v1",
      "Cluster",
      "customresourcedefinitions",
    ]);
    expectTypeOf<ObjectOf<typeof Deployment>>().toEqualTypeOf<Deployment>();
    expectTypeOf<Deployment["kind"]>().toEqualTypeOf<"Deployment">();
    expectTypeOf<Deployment["spec"]["template"]["spec"]["containers"]>().toEqualTypeOf<readonly Container[]>();
    expectTypeOf<Container["imagePullPolicy"]>().toEqualTypeOf<"Always" | "IfNotPresent" | "Never" | undefined>();
  });

  it("can be written with only the required fields", () => {
    const settings: NewObject<ConfigMap> = { metadata: { name: "a" }, data: { key: "value" } };
    const space: NewObject<Namespace> = { metadata: { name: "a" } };
    const web: NewObject<Deployment> = {
      metadata: { name: "web" },
      spec: {
        selector: { matchLabels: { app: "web" } },
        template: { metadata: { labels: { app: "web" } }, spec: { containers: [{ name: "web", image: "nginx" }] } },
      },
    };
    expect([settings, space, web]).toHaveLength(3);
    expect(ConfigMap.kind).toBe("ConfigMap");
  });
});
