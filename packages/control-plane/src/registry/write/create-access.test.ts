import { expect, it } from "vitest";
import type { AccessAttributes } from "../../api/user.js";
import { TestPlane } from "../plane.testing.js";

const APPLY = "application/apply-patch+yaml";
const CONFIG_MAP = "/api/v1/namespaces/default/configmaps/x";
const ENDPOINTS = "/api/v1/namespaces/default/endpoints/x";

/** Allows these verbs on everything. */
const only =
  (...verbs: readonly string[]) =>
  ({ verb }: AccessAttributes): boolean =>
    verbs.includes(verb);

const configMap = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "x" } };
const endpoints = { apiVersion: "v1", kind: "Endpoints", metadata: { name: "x" } };

const attempts = [
  { title: "an apply", method: "PATCH", verb: "patch", path: `${CONFIG_MAP}?fieldManager=a`, body: configMap },
  {
    title: "a forced apply",
    method: "PATCH",
    verb: "patch",
    path: `${CONFIG_MAP}?fieldManager=a&force=true`,
    body: configMap,
  },
  {
    title: "a dry run",
    method: "PATCH",
    verb: "patch",
    path: `${CONFIG_MAP}?fieldManager=a&dryRun=All`,
    body: configMap,
  },
  { title: "a PUT of a kind that it creates", method: "PUT", verb: "update", path: ENDPOINTS, body: endpoints },
] as const;

it.each(attempts)("$title creates no object without permission to create", async ({ method, verb, path, body }) => {
  await using plane = await TestPlane.start({ allows: only(verb, "get") });
  const contentType = method === "PATCH" ? APPLY : "application/json";
  const answer = await plane.request(method, path, { body, contentType });
  expect(answer.status).toBe(403);
  expect(answer.body.message).toMatch(/"x" is forbidden: User "admin" cannot create resource/);
  expect((await plane.request("GET", path.split("?")[0]!)).status).toBe(404);
});

it.each(attempts)(
  "$title creates an object with permission to create, which is checked for that object",
  async (attempt) => {
    const asked: AccessAttributes[] = [];
    await using plane = await TestPlane.start({ allows: (attributes) => asked.push(attributes) > 0 });
    const contentType = attempt.method === "PATCH" ? APPLY : "application/json";
    const answer = await plane.request(attempt.method, attempt.path, { body: attempt.body, contentType });
    expect(answer.status).toBe(201);
    expect(asked.map(({ verb }) => verb)).toEqual([attempt.verb, "create"]);
    expect(asked[1]).toMatchObject({ namespace: "default", name: "x", subresource: "" });
  },
);

it("an apply to an existing object needs no permission to create", async () => {
  const allowed = new Set(["create", "patch"]);
  await using plane = await TestPlane.start({ allows: ({ verb }) => allowed.has(verb) });
  const send = () => plane.request("PATCH", `${CONFIG_MAP}?fieldManager=a`, { body: configMap, contentType: APPLY });
  expect((await send()).status).toBe(201);
  allowed.delete("create");
  expect((await send()).status).toBe(200);
});
