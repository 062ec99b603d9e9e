import { describe, expect, it } from "vitest";
import type { KubeObject } from "../../kinds/object.js";
import { OwnWrites, onlyAt } from "./own-writes.js";

const object = (resourceVersion: string, more: object = {}): KubeObject => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "a", uid: "1", resourceVersion, creationTimestamp: "" },
  ...more,
});
const data = onlyAt("data");

describe("OwnWrites", () => {
  it("recognises the event of an own write once, and its writer", () => {
    const writes = new OwnWrites();
    writes.note("v1/ConfigMap", "team/a", "team/site", object("1"), object("2", { data: { x: "1" } }), data);
    expect(writes.take("v1/ConfigMap", "team/a", object("2"))).toBe("team/site");
    expect(writes.take("v1/ConfigMap", "team/a", object("2"))).toBeUndefined();
  });

  it("does not mistake another state for the own write", () => {
    const writes = new OwnWrites();
    writes.note("v1/ConfigMap", "team/a", "team/site", object("1"), object("3"), data);
    expect(writes.take("v1/ConfigMap", "team/a", object("2"))).toBeUndefined();
    expect(writes.take("v1/ConfigMap", "team/a", object("3"))).toBe("team/site");
  });

  it("never swallows a foreign change between the known state and the response", () => {
    const writes = new OwnWrites();
    const answer = object("3", { data: { x: "1" }, immutable: true });
    writes.note("v1/ConfigMap", "team/a", "team/site", object("1"), answer, data);
    expect(writes.take("v1/ConfigMap", "team/a", answer)).toBeUndefined();
  });

  it("holds events back during a write until the response is noted", async () => {
    const writes = new OwnWrites();
    const seen: (string | undefined)[] = [];
    await writes.during("v1/ConfigMap", "team/a", async () => {
      const see = (): void => void seen.push(writes.take("v1/ConfigMap", "team/a", object("2")));
      expect(writes.hold("v1/ConfigMap", "team/a", see)).toBe(true);
      expect(writes.hold("v1/ConfigMap", "team/b", see)).toBe(false);
      writes.note("v1/ConfigMap", "team/a", "team/site", object("1"), object("2"), data);
      expect(seen).toEqual([]);
    });
    expect(seen).toEqual(["team/site"]);
  });

  it("delivers all held events, and the response, even if a handler throws", async () => {
    const errors: string[] = [];
    const writes = new OwnWrites((key, error) => errors.push(`${key}: ${(error as Error).message}`));
    const seen: string[] = [];
    const answer = await writes.during("v1/ConfigMap", "team/a", async () => {
      writes.hold("v1/ConfigMap", "team/a", () => {
        throw new Error("a filter of somebody's");
      });
      writes.hold("v1/ConfigMap", "team/a", () => void seen.push("seen"));
      return "answer";
    });
    expect([answer, seen, errors]).toEqual(["answer", ["seen"], ["team/a: a filter of somebody's"]]);
  });

  it("releases held events when the write fails", async () => {
    const writes = new OwnWrites();
    const seen: string[] = [];
    const failing = writes.during("v1/ConfigMap", "team/a", async () => {
      writes.hold("v1/ConfigMap", "team/a", () => void seen.push("seen"));
      throw new Error("no");
    });
    await expect(failing).rejects.toThrow("no");
    expect(seen).toEqual(["seen"]);
  });
});
