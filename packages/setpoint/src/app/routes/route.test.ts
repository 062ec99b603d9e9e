import { describe, expect, it } from "vitest";
import { Order, Shop, webRequest } from "../app.testing.js";
import { RefusedError } from "../refused-error.js";
import { kindRoute, type RouteRequest, routeAnswer, versionRoute } from "./route.js";

const handle = ({ method, namespace, name, path }: RouteRequest) => ({ json: [method, namespace, name, path] });
const of = "shop.example.com/v1";
const routes = [
  kindRoute(Order, { path: "total", handle }),
  kindRoute(Order, { path: "reports/daily", method: "POST", handle }),
  kindRoute(Shop, { path: "total", handle }),
  kindRoute(Shop, { path: "reports/daily", handle }),
  versionRoute(of, "Namespaced", { path: "stats", handle }),
  versionRoute(of, "Namespaced", { path: "stats/all", method: "TRACE", handle }),
  versionRoute(of, "Cluster", { path: "stats", handle }),
  versionRoute(of, "Cluster", { path: "stats/all", method: "CONNECT", handle }),
  kindRoute(Shop, { path: "total", method: "HEAD", handle }),
];
const answer = (method: string, path: string) => routeAnswer(routes, webRequest(method, `/apis/${path}`));

describe("custom routes", () => {
  it.each([
    ["GET", `${of}/namespaces/n/orders/a/total`, ["n", "a", "total"]],
    ["POST", `${of}/namespaces/n/orders/a/reports/daily`, ["n", "a", "reports/daily"]],
    ["GET", `${of}/shops/a/total`, ["", "a", "total"]],
    ["GET", `${of}/shops/a/reports/daily`, ["", "a", "reports/daily"]],
    ["GET", `${of}/namespaces/n/stats`, ["n", "", "stats"]],
    ["TRACE", `${of}/namespaces/n/stats/all`, ["n", "", "stats/all"]],
    ["GET", `${of}/stats`, ["", "", "stats"]],
    ["CONNECT", `${of}/stats/all`, ["", "", "stats/all"]],
    ["HEAD", `${of}/shops/a/total`, ["", "a", "total"]],
  ])("%s /apis/%s is dispatched [case 40]", async (method, path, seen) => {
    const found = await answer(method, path);
    expect(found.status).toBe(200);
    expect(JSON.parse(found.body as string)).toEqual([method, ...seen]);
  });

  it.each([
    ["GET", "other.example.com/v1/stats"],
    ["GET", "shop.example.com/v2/stats"],
    ["POST", `${of}/stats`],
    ["HEAD", `${of}/stats`],
    ["GET", `${of}/orders/a/total`],
    ["GET", `${of}/namespaces/n/shops/a/total`],
    ["GET", `${of}/namespaces/n/orders/a`],
    ["GET", `${of}/namespaces/n/orders/a%2Fb/total`],
    ["GET", `${of}/%zz`],
  ])("%s /apis/%s is not found [case 40]", async (method, path) => {
    const answered = await answer(method, path);
    expect(answered.status).toBe(404);
    expect(JSON.parse(answered.body as string)).toMatchObject({ kind: "Status", reason: "NotFound", code: 404 });
  });

  it("answer 500 to a generic error, and keep code and reason of one with a status [case 40]", async () => {
    const failing = (error: Error) =>
      routeAnswer(
        [
          kindRoute(Shop, {
            path: "total",
            handle: () => {
              throw error;
            },
          }),
        ],
        webRequest("GET", `/apis/${of}/shops/a/total`),
      );
    expect(await failing(new Error("oh"))).toMatchObject({ status: 500 });
    const kept = await failing(new RefusedError(418, "Teapot", "no coffee"));
    expect(kept.status).toBe(418);
    expect(JSON.parse(kept.body as string)).toMatchObject({ code: 418, reason: "Teapot", message: "no coffee" });
  });

  it("report a body that is not JSON, and answer 204 if there is no answer", async () => {
    const route = kindRoute(Shop, { path: "x", method: "POST", handle: (request) => void request.json() as undefined });
    const send = (body: string) => routeAnswer([route], webRequest("POST", `/apis/${of}/shops/a/x`, body));
    expect((await send("{")).status).toBe(400);
    expect((await send("{}")).status).toBe(204);
  });
});
