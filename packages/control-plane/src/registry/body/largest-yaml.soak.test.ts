import { expect, it } from "vitest";
import { TestPlane } from "../plane.testing.js";

const REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";

it("YAML of nearly three megabytes whose aliases expand to a hundred times as much is refused [R4]", async () => {
  await using plane = await TestPlane.start();
  const body = `x: &a [${"{},".repeat(990_000)}{}]\ny: [${"*a,".repeat(98)}*a]\n`;
  expect(body.length).toBeGreaterThan(2_970_000);
  const answer = await plane.request("POST", REVIEWS, { body, contentType: "application/yaml" });
  expect(answer.status).toBe(400);
  expect(answer.body.message).toMatch(/document contains excessive aliasing/);
});
