import { expect, it } from "vitest";
import type { KubeObject } from "../../kinds/object.js";
import { KeyMemory } from "./key-memory.js";

it("keeps the state before the first unhandled change, for the most recently changed objects", () => {
  const memory = new KeyMemory();
  const object = (uid: string): KubeObject => ({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "a", uid, resourceVersion: "1", creationTimestamp: "" },
  });
  for (let at = 0; at < 5_000; at++) memory.noteBefore(`team/hidden-${at}`, object(`${at}`));
  memory.noteBefore("team/a", object("first"));
  memory.noteBefore("team/a", object("second"));
  expect(memory.takeBefore("team/a")?.metadata.uid).toBe("first");
  expect(memory.takeBefore("team/hidden-0")).toBeUndefined();
});
