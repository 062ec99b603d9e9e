import { type } from "arktype";
import { afterEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { controller } from "../controller/controller.js";
import { resource } from "../kinds/resource.js";
import { TestEnvironment } from "../testing/test-environment.js";
import { mutating, validating } from "./admission.js";
import { app } from "./app.js";

const here = { namespace: "default" };
const metadata = { ...here, name: "a" };

const Booking = resource("shop.example.com/v1/Booking", {
  spec: z
    .object({
      from: z.int(),
      to: z.int(),
      seats: z.array(z.object({ row: z.int().refine((row) => row !== 13, "there is no row 13") })).default([]),
    })
    .refine(({ from, to }) => from < to, { message: "ends before it begins", path: ["to"] }),
});
const Plain = resource("shop.example.com/v1/Plain", { spec: z.object({ size: z.int().min(1).optional() }) });

const warnings = vi.spyOn(process, "emitWarning").mockImplementation(() => {});
afterEach(() => warnings.mockClear());

describe("checks of a schema library beyond JSON Schema", () => {
  it("are reported with their path, in zod and in arktype", () => {
    expect(Booking.declaration.refinements?.paths).toEqual(["spec", "spec.seats[].row"]);
    const narrowed = type({ count: type("number").narrow((count) => count % 2 === 0) });
    const Even = resource("shop.example.com/v1/Even", { spec: narrowed, plural: "evens" });
    expect(Even.declaration.refinements?.paths).toEqual(["spec"]);
    expect(Plain.declaration.refinements).toBeUndefined();
  });

  it.each([
    ["other validators", { validate: [validating(Plain, { create: () => {} })] }],
    ["a mutator", { mutate: [mutating(Plain, { create: () => undefined })] }],
    ["nothing else", { validate: [validating(Booking)] }],
  ])("are enforced by the admission of an app with %s", async (_, admission) => {
    const shop = app({ name: "shop", kinds: [Booking, Plain], ...admission });
    expect(warnings).not.toHaveBeenCalled();
    await using env = await TestEnvironment.create({ loops: [shop] });
    const create = (spec: { from: number; to: number; seats?: { row: number }[] }) =>
      env.client.create(Booking, { metadata, spec });
    await expect(create({ from: 2, to: 1 })).rejects.toMatchObject({
      status: 422,
      reason: "Invalid",
      message: expect.stringContaining('Booking.shop.example.com "a" is invalid: spec.to: ends before it begins'),
      causes: [{ field: "spec.to", reason: "FieldValueInvalid", message: "ends before it begins" }],
    });
    await expect(create({ from: 1, to: 2, seats: [{ row: 13 }] })).rejects.toThrow(
      "spec.seats[0].row: there is no row 13",
    );
    await create({ from: 1, to: 2 });
    const patch = (body: object) => env.client.patch(Booking, "a", { type: "merge", body: body as never }, here);
    await expect(patch({ spec: { to: 0 } })).rejects.toThrow("ends before it begins");
    await patch({ spec: { to: 5 } });
  });

  it("do not block updates of objects that are older than the check", async () => {
    await using env = await TestEnvironment.create({ kinds: [Booking] });
    const spec = { from: 2, to: 1 };
    await env.client.create(Booking, { metadata: { ...metadata, finalizers: ["example.com/kept"] }, spec });
    await env.start([app({ name: "shop", kinds: [Booking], validate: [validating(Booking)] })]);
    const patch = (body: object) => env.client.patch(Booking, "a", { type: "merge", body: body as never }, here);
    await patch({ metadata: { labels: { seen: "yes" } } });
    await patch({ spec: { seats: [{ row: 1 }] } });
    await expect(patch({ spec: { seats: [{ row: 13 }] } })).rejects.toThrow("there is no row 13");
    await env.client.delete(Booking, "a", here);
    await patch({ metadata: { finalizers: null } });
    expect(await env.client.find(Booking, "a", here)).toBeUndefined();
  });

  it("cause a warning for an app without admission, and for a manager without an app", async () => {
    app({ name: "shop", kinds: [Booking, Plain] });
    const unchecked = [
      expect.stringMatching(
        /^app shop: no server checks refinements of .*Booking: spec, spec\.seats\[\]\.row; .*k8s\.rule/,
      ),
      { code: "SETPOINT_REFINEMENT_UNCHECKED" },
    ];
    expect(warnings.mock.calls).toEqual([unchecked]);
    warnings.mockClear();
    await using env = await TestEnvironment.create({ kinds: [Booking] });
    await env.start([controller(Booking, { reconcile: () => {} }), controller(Plain, { reconcile: () => {} })]);
    expect(warnings.mock.calls).toEqual([
      [expect.stringMatching(/^controller bookings: no server checks refinements of/), unchecked[1]],
    ]);
  });
});
