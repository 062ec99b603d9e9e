import { describe, expect, it } from "vitest";
import { loadFacts } from "./facts.js";

const facts = await loadFacts();

describe("facts", () => {
  it("describes every resource that can be created: schema, strategy, columns, encoding", () => {
    for (const { group, versions } of facts.groups) {
      for (const { version, resources } of versions) {
        const apiVersion = group === "" ? version : `${group}/${version}`;
        for (const { plural, kind, verbs } of resources) {
          const id = `${apiVersion} ${plural}`;
          expect(facts.schemaOf(group, version, kind)?.properties?.metadata?.properties?.name, id).toBeDefined();
          expect(facts.messageOf(apiVersion, kind)?.fields.length, id).toBeGreaterThan(0);
          if (!verbs.includes("list")) continue;
          expect(facts.columns(group, version, plural)[0]?.description, id).not.toBe("");
          expect(facts.strategy(group, version, plural), id).toBeDefined();
        }
      }
    }
  });

  it("resolves references, also of a recursive component", () => {
    const schema = facts.schemaOf("apiextensions.k8s.io", "v1", "CustomResourceDefinition");
    const versions = schema?.properties?.spec?.properties?.versions?.items;
    const props = versions?.properties?.schema?.properties?.openAPIV3Schema;
    expect(props?.properties?.not).toBe(props);
    expect(props?.properties?.type).toEqual({ type: "string" });
  });

  it("shares a component between its users and keeps siblings of a reference", () => {
    const pod = facts.schemaOf("", "v1", "Pod");
    const template = facts.schemaOf("", "v1", "PodTemplate")?.properties?.template;
    expect(pod?.properties?.spec).toBe(template?.properties?.spec);
    const strategy = facts.schemaOf("apps", "v1", "Deployment")?.properties?.spec?.properties?.strategy;
    expect(strategy?.["x-kubernetes-patch-strategy"]).toBe("retainKeys");
    expect(strategy?.properties?.type?.type).toBe("string");
  });

  it("knows the options of requests in every group version", () => {
    expect(facts.messageOf("policy/v1", "DeleteOptions")).toBe(facts.messageOf("v1", "DeleteOptions"));
    expect(facts.messageOf("example.com/v1", "Thing")).toBeUndefined();
  });
});
