import { describe, expect, it } from "vitest";
import type { KubeObject } from "../kinds/object.js";
import { Retention } from "./retention.js";

describe("a projection to fields", () => {
  const object = {
    apiVersion: "v1",
    kind: "Thing",
    metadata: { name: "a", labels: { app: "web" } },
    spec: JSON.parse('{"constructor":{"size":1,"color":"red"},"__proto__":{"deep":2},"list":[1,2]}'),
  } as unknown as KubeObject;
  const kept = (...fields: string[]) => {
    const { spec, ...rest } = new Retention({ type: "fields", fields }).reshape!(object) as { spec?: object };
    const { spec: _, ...identity } = object as KubeObject & { spec: unknown };
    expect(rest).toEqual(identity);
    return spec === undefined ? undefined : JSON.stringify(spec);
  };

  it("keeps what is there, whatever its name", () => {
    expect(kept("spec.constructor.size", "spec.__proto__.deep", "spec.list")).toBe(
      '{"constructor":{"size":1},"__proto__":{"deep":2},"list":[1,2]}',
    );
    expect(kept("spec", "spec.list.0", "metadata.name")).toBe(JSON.stringify((object as { spec?: unknown }).spec));
  });

  it("has no field of an object's own making, and no empty one for what is not there", () => {
    expect(kept("toString", "constructor.name", "spec.valueOf", "spec.none.such", "spec.list.length.more")).toBe(
      undefined,
    );
  });
});
