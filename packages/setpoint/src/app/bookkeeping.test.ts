import { describe, expect, it } from "vitest";
import { VirtualClock } from "../clock/virtual-clock.js";
import type { KubeObject } from "../kinds/object.js";
import type { AdmissionRequest } from "./admission.js";
import { Order } from "./app.testing.js";
import { bookkeeping } from "./bookkeeping.js";

const { create, update } = bookkeeping(Order, { prefix: "shop/", clock: new VirtualClock() }).options;
const by = (username: string) => ({ user: { username } }) as AdmissionRequest;
const order = (count: number, annotations: Record<string, string>) =>
  ({
    apiVersion: "shop.example.com/v1",
    kind: "Order",
    metadata: { name: "a", annotations },
    spec: { count },
  }) as unknown as KubeObject;
const annotationsOf = async (made: unknown) => ((await made) as KubeObject).metadata.annotations;

describe("bookkeeping", () => {
  it("records the creator, whatever the client claims", async () => {
    const made = create!(order(1, { "shop/createdBy": "eve", other: "x" }), by("ann"));
    expect(await annotationsOf(made)).toEqual({ "shop/createdBy": "ann", other: "x" });
  });

  it("records who changed the object last, and keeps the creator", async () => {
    const made = update!(order(2, { "shop/createdBy": "eve" }), order(1, { "shop/createdBy": "ann" }), by("bob"));
    expect(await annotationsOf(made)).toEqual({
      "shop/createdBy": "ann",
      "shop/updatedBy": "bob",
      "shop/updateTimestamp": "2026-01-01T00:00:00Z",
    });
  });

  it("keeps a no-op update a no-op", async () => {
    const old = order(1, { "shop/createdBy": "ann", "shop/updatedBy": "ann" });
    expect(await annotationsOf(update!(order(1, {}), old, by("bob")))).toEqual(old.metadata.annotations);
  });
});
