import { Buffer } from "node:buffer";
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

  it("keeps existing fields, whatever their names", () => {
    expect(kept("spec.constructor.size", "spec.__proto__.deep", "spec.list")).toBe(
      '{"constructor":{"size":1},"__proto__":{"deep":2},"list":[1,2]}',
    );
    expect(kept("spec", "spec.list.0", "metadata.name")).toBe(JSON.stringify((object as { spec?: unknown }).spec));
  });

  it("has no inherited properties of JavaScript objects, and no empty field for a missing one", () => {
    expect(kept("toString", "constructor.name", "spec.valueOf", "spec.none.such", "spec.list.length.more")).toBe(
      undefined,
    );
  });
});

describe("retained managedFields", () => {
  const retention = (...managers: string[]) => {
    const made = new Retention();
    for (const manager of managers) made.keepManager(manager);
    return made;
  };
  const entry = (manager: string, more: object = {}) => ({
    manager,
    operation: "Apply",
    apiVersion: "v1",
    time: "2026-01-01T00:00:00Z",
    fieldsType: "FieldsV1",
    fieldsV1: { "f:data": { "f:time": {}, 'k:{"time":"noon","manager":"x"}': {} } },
    ...more,
  });
  const keptOf = (made: Retention, ...entries: object[]) => {
    const text = made.keepManagedFields(Buffer.from(JSON.stringify(entries)));
    return text === "" ? [] : JSON.parse(text);
  };
  const timeless = ({ time: _, ...rest }: ReturnType<typeof entry>) => rest;

  it("are those of the requested managers, without their times", () => {
    const made = retention("web", "team/b");
    expect(keptOf(made, entry("web"))).toEqual([timeless(entry("web"))]);
    expect(keptOf(made, entry("kubectl"), entry("team/b"))).toEqual([timeless(entry("team/b"))]);
    expect(keptOf(made, entry("web"), entry("team/b"))).toEqual([timeless(entry("web")), timeless(entry("team/b"))]);
    expect(keptOf(made, entry("kubectl"))).toEqual([]);
    expect(keptOf(made)).toEqual([]);
  });

  it("are found whatever the manager's name is, and wherever its time stands", () => {
    const odd = 'a "quoted" <name>';
    expect(keptOf(retention("web", odd), entry(odd), entry("web"), entry("b"))).toHaveLength(2);
    const { time, ...rest } = entry("web");
    expect(keptOf(retention("web"), { ...rest, time })).toEqual([rest]);
    expect(keptOf(retention("web"), rest)).toEqual([rest]);
  });

  it("are not those of a manager whose name only begins or ends alike", () => {
    expect(keptOf(retention("web"), entry("web2"), entry("a-web"))).toEqual([]);
  });
});
