import { describe, expect, it } from "vitest";
import type { Client } from "../../client/client.js";
import { controller } from "../../controller/controller.js";
import { Website, World } from "../../controller/world.testing.js";
import { ClusterRole, ClusterRoleBinding } from "../../kinds/builtin/rbac.authorization.k8s.io/v1.js";
import { ServiceAccount } from "../../kinds/builtin/v1.js";
import type { JsonObject } from "../../kinds/object.js";
import { Manager } from "../manager.js";
import { SeenAccess } from "../seen-access.js";
import { reviewedAccess } from "./access-guard.js";
import type { EndpointRequest } from "./endpoint-server.js";
import { secureRequest } from "./secure-request.testing.js";

const showing = (token: string): EndpointRequest => ({
  path: "/metrics",
  query: new URLSearchParams(),
  headers: { authorization: `Bearer ${token}` },
  isLoopback: false,
  signal: new AbortController().signal,
});

/** A token of an account that may get these paths. */
async function tokenFor(
  client: Client,
  name: string,
  paths: readonly string[],
  spec: JsonObject = {},
): Promise<string> {
  await client.create(ServiceAccount, { metadata: { namespace: "team", name } });
  const rules = [{ nonResourceURLs: paths, verbs: ["get"] }];
  await client.create(ClusterRole, { metadata: { name }, rules });
  await client.create(ClusterRoleBinding, {
    metadata: { name },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name },
    subjects: [{ kind: "ServiceAccount", namespace: "team", name }],
  });
  const body = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec };
  const { status } = await client.createSubresource<{ status: { token: string } }>(ServiceAccount, name, {
    subresource: "token",
    body,
    namespace: "team",
  });
  return status.token;
}

const reviews = (world: World): number => world.requests.filter(({ path }) => path.includes("tokenreviews")).length;

describe("access by the cluster's RBAC", () => {
  it("is checked at each guarded path, whichever header carries the token", async () => {
    await using world = await World.create();
    const metrics = { host: "127.0.0.1", port: 0 };
    const { client } = world.cluster();
    const common = { client, clock: world.clock, metrics, seenAccess: new SeenAccess() };
    await using manager = new Manager({ ...common, metricsAccess: "rbac", profiling: true });
    await manager.add(controller(Website, { reconcile: () => {} }));
    await manager.start();
    const paths = ["/metrics", "/timeline", "/rbac", "/debug/profile?seconds=0", "/debug/heap"];
    const ask = async (headers: Record<string, string>): Promise<readonly number[]> =>
      Promise.all(paths.map(async (path) => (await secureRequest(`${manager.metricsUrl}${path}`, headers)).status));
    expect(await ask({})).toEqual([401, 401, 401, 401, 401]);
    const nobody = await tokenFor(world.client, "nobody", ["/elsewhere"]);
    const reader = await tokenFor(world.client, "reader", ["/rbac", "/debug/profile"]);
    await world.clock.advance(0);
    expect(await ask({ authorization: `Bearer ${nobody}` })).toEqual([403, 403, 403, 403, 403]);
    expect(await ask({ authorization: `Bearer ${reader}` })).toEqual([403, 403, 200, 400, 403]);
    // This header comes through a pod: a token that the API server accepts as well would be exposed to that pod.
    expect(await ask({ "x-setpoint-authorization": `Bearer ${reader}` })).toEqual([401, 401, 401, 401, 401]);
    const bound = { audiences: ["setpoint.dev/timeline"] };
    const proxied = await tokenFor(world.client, "proxied", ["/rbac", "/debug/profile"], bound);
    await world.clock.advance(0);
    expect(await ask({ "x-setpoint-authorization": `Bearer ${proxied}` })).toEqual([403, 403, 200, 400, 403]);
    expect(await ask({ authorization: `Bearer ${proxied}` })).toEqual([401, 401, 401, 401, 401]);
    // If no review is possible, nobody gets access.
    world.fault = ({ path }) => (path.includes("reviews") ? new Error("out of reach") : undefined);
    expect(await ask({ authorization: `Bearer ${reader}` })).toEqual([500, 500, 500, 500, 500]);
  });

  it("accepts only tokens for the audience, if one is named", async () => {
    await using world = await World.create();
    const forServer = await tokenFor(world.client, "server", ["/metrics"]);
    const forMetrics = await tokenFor(world.client, "metrics", ["/metrics"], { audiences: ["metrics"] });
    await world.clock.advance(0);
    const { client } = world.cluster();
    const statuses = async (audiences: readonly string[]) => {
      const guard = reviewedAccess(client, { clock: world.clock, audiences });
      return [(await guard(showing(forServer)))?.status, (await guard(showing(forMetrics)))?.status];
    };
    expect(await statuses([])).toEqual([undefined, 401]);
    expect(await statuses(["metrics"])).toEqual([401, undefined]);
  });

  it("reviews an invalid token once in ten seconds, and permissions each time", async () => {
    await using world = await World.create();
    const guard = reviewedAccess(world.cluster().client, { clock: world.clock });
    for (let times = 0; times < 5; times++) expect((await guard(showing("made-up")))?.status).toBe(401);
    expect(reviews(world)).toBe(1);
    await world.clock.advance(10_000);
    expect((await guard(showing("made-up")))?.status).toBe(401);
    expect(reviews(world)).toBe(2);
    const reader = await tokenFor(world.client, "reader", ["/metrics"]);
    await world.clock.advance(0);
    expect(await guard(showing(reader))).toBeUndefined();
    await world.client.delete(ClusterRoleBinding, "reader");
    await world.clock.advance(0);
    expect((await guard(showing(reader)))?.status).toBe(403);
  });

  it("reviews at most eight callers at once, and none for longer than ten seconds", async () => {
    await using world = await World.create();
    const guard = reviewedAccess(world.cluster().client, { clock: world.clock });
    world.hangs = ({ path }) => path.includes("tokenreviews");
    const asking = Array.from({ length: 8 }, (_, at) => guard(showing(`token-${at}`)).catch(() => "given up"));
    await world.clock.settle();
    expect((await guard(showing("one more")))?.status).toBe(503);
    expect(reviews(world)).toBe(8);
    await world.clock.advance(10_000);
    expect(new Set(await Promise.all(asking))).toEqual(new Set(["given up"]));
    world.hangs = undefined;
    expect((await guard(showing("one more")))?.status).toBe(401);
  });

  it("is no longer reviewed once the caller has gone", async () => {
    await using world = await World.create();
    const guard = reviewedAccess(world.cluster().client, { clock: world.clock });
    world.hangs = ({ path }) => path.includes("tokenreviews");
    const gone = new AbortController();
    const asking = expect(guard({ ...showing("slow"), signal: gone.signal })).rejects.toMatchObject({
      code: "ABORTED",
    });
    await world.clock.settle();
    gone.abort();
    await asking;
  });
});
