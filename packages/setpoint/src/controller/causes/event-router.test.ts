import { expect, it } from "vitest";
import { OwnWrites, onlyAt } from "../apply/own-writes.js";
import { controller } from "../controller.js";
import { Website } from "../world.testing.js";
import { DependencyIndex } from "./dependency-index.js";
import { EventRouter } from "./event-router.js";
import type { KindSource } from "./kind-source.js";

it("the event of an own write is no longer expected once its object is deleted", () => {
  const ownWrites = new OwnWrites();
  const queued: string[] = [];
  const router = new EventRouter({
    controller: controller(Website, { reconcile: () => {} }) as never,
    dependencies: new DependencyIndex(),
    ownWrites,
    enqueue: (key, { type }) => queued.push(`${key} ${type}`),
    onChange: () => {},
    onGone: () => {},
  });
  const source = { id: "web.example.com/v1/Website" } as KindSource;
  const released: Website = {
    apiVersion: "web.example.com/v1",
    kind: "Website",
    metadata: { name: "a", namespace: "team", uid: "1", resourceVersion: "2", creationTimestamp: "" },
    spec: { image: "nginx" },
  };
  const held = {
    ...released,
    metadata: { ...released.metadata, finalizers: ["example.com/held"], resourceVersion: "1" },
  };
  ownWrites.note(source.id, "team/a", "team/a", held, released, onlyAt("metadata", "finalizers"));
  router.onPrimary(source, { type: "delete", key: "team/a", object: held, finalStateUnknown: false });
  expect(queued).toEqual(["team/a deleted"]);
  expect(ownWrites.take(source.id, "team/a", released)).toBeUndefined();
});
