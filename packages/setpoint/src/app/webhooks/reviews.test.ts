import { Buffer } from "node:buffer";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { JsonPatchOperation } from "../../client/client.js";
import { type AdmissionRequest, mutating, validating } from "../admission.js";
import { OldOrder, Order, parsed, webRequest } from "../app.testing.js";
import { RefusedError } from "../refused-error.js";
import type { WebAnswer, WebRequest } from "../routes/web-message.js";
import { policyId } from "./admission-policy.js";
import { mutateReview, validateReview } from "./admission-review.js";
import { convertReview } from "./conversion-review.js";
import { jsonPatch } from "./json-patch.js";

const object = { apiVersion: "shop.example.com/v1", kind: "Order", metadata: { name: "a" }, spec: { item: "tea" } };
const kind = { group: "shop.example.com", version: "v1", kind: "Order" };
const review = (request: object) =>
  webRequest("POST", "/validate", { request: { uid: "u1", kind, operation: "CREATE", object, ...request } });

interface Review {
  readonly response: {
    readonly uid: string;
    readonly allowed: boolean;
    readonly status?: object;
    readonly warnings?: readonly string[];
    readonly patch?: string;
  };
}

describe("admission reviews", () => {
  it.each<[string, (request: WebRequest) => Promise<WebAnswer>]>([
    ["validate", (request) => validateReview([validating(Order, { create: () => {} })], request)],
    ["mutate", (request) => mutateReview([mutating(Order, { create: () => undefined })], request)],
    ["convert", (request) => convertReview([], request)],
  ])("must be a POST of JSON with a request: %s [case 39]", async (_, answer) => {
    expect((await answer(webRequest("GET", "/"))).status).toBe(405);
    for (const body of ["{", "{}", "null", "1"]) {
      expect((await answer(webRequest("POST", "/", body))).status).toBe(400);
    }
    const older = await answer(webRequest("POST", "/", { apiVersion: "admission.k8s.io/v1beta1", request: {} }));
    expect(older).toMatchObject({
      status: 400,
      body: expect.stringContaining("admission.k8s.io/v1beta1, but this server"),
    });
  });

  it("of a subresource are dispatched by resource, because its objects are of another kind", async () => {
    const seen: unknown[] = [];
    const validator = validating(Order, {
      subresources: ["scale"],
      update: (scale, _old, { kind, subresource }) => void seen.push([scale.kind, kind.kind, subresource]),
    });
    const scale = { apiVersion: "autoscaling/v1", kind: "Scale", metadata: { name: "a" } };
    const request = {
      operation: "UPDATE",
      kind: { group: "autoscaling", version: "v1", kind: "Scale" },
      resource: { group: "shop.example.com", version: "v1", resource: "orders" },
      subResource: "scale",
      object: scale,
      oldObject: scale,
    };
    expect(parsed<Review>(await validateReview([validator], review(request))).response.allowed).toBe(true);
    expect(seen).toEqual([["Scale", "Scale", "scale"]]);
    const other = { ...request, resource: { ...request.resource, resource: "shops" } };
    expect(await validateReview([validator], review(other))).toMatchObject({ status: 500 });
  });

  it("apply what a mutator returns, and ignore changes in place that it does not return", async () => {
    const changing = (isReturned: boolean) =>
      mutating(Order, {
        create(order) {
          (order.spec as { count: number }).count = 2;
          return isReturned ? order : undefined;
        },
      });
    const patchOf = async (isReturned: boolean) => {
      const { response } = parsed<Review>(await mutateReview([changing(isReturned)], review({})));
      return JSON.parse(Buffer.from(response.patch!, "base64").toString()) as unknown;
    };
    expect(await patchOf(true)).toEqual([{ op: "add", path: "/spec/count", value: 2 }]);
    expect(await patchOf(false)).toEqual([]);
  });

  it("sent to the path of a policy run the handlers of that policy, or all if none has it", async () => {
    const seen: string[] = [];
    const strict = validating(Order, { create: () => void seen.push("strict") });
    const lax = validating(Order, { failurePolicy: "Ignore", create: () => void seen.push("lax") });
    for (const policy of [policyId(strict), policyId(lax), "another"]) {
      await validateReview([strict, lax], review({}), policy);
      seen.push("|");
    }
    expect(seen).toEqual(["strict", "|", "lax", "|", "strict", "lax", "|"]);
  });

  it("of a kind without a handler get 500 [case 39]", async () => {
    const answer = await validateReview([], review({}));
    expect(answer).toMatchObject({ status: 500, body: "no handler is registered for shop.example.com/v1/Order\n" });
  });

  it("are denied with the code and reason of the handler's error [case 39]", async () => {
    const create = () => {
      throw new RefusedError(409, "Conflict", "the shop is closed");
    };
    const { response } = parsed<Review>(await validateReview([validating(Order, { create })], review({})));
    expect(response).toEqual({
      uid: "u1",
      allowed: false,
      status: { status: "Failure", code: 409, reason: "Conflict", message: "the shop is closed" },
    });
  });

  it("are dispatched by the kind that the API server converted the object to [case 39]", async () => {
    const seen: string[] = [];
    const validators = [
      validating(Order, { create: () => void seen.push("v1") }),
      validating(OldOrder, { create: () => void seen.push("v1beta1") }),
    ];
    await validateReview(validators, review({ requestKind: { ...kind, version: "v1beta1" } }));
    expect(seen).toEqual(["v1"]);
  });

  it("pass user, namespace, subresource and dry run to the handler, and its warnings to the client", async () => {
    let seen: AdmissionRequest | undefined;
    const validator = validating(Order, {
      subresources: ["status"],
      update(order, old, request) {
        seen = request;
        request.warn(`${old.spec.item} became ${order.spec.item}`);
      },
    });
    const userInfo = { username: "ann", groups: ["team"], extra: { scopes: ["a"] } };
    const oldObject = { ...object, spec: { item: "milk" } };
    const request = review({
      operation: "UPDATE",
      oldObject,
      namespace: "n",
      subResource: "status",
      dryRun: true,
      userInfo,
    });
    const { response } = parsed<Review>(await validateReview([validator], request));
    expect(response).toEqual({ uid: "u1", allowed: true, warnings: ["milk became tea"] });
    expect(seen).toMatchObject({
      name: "a",
      namespace: "n",
      subresource: "status",
      dryRun: true,
      user: { ...userInfo, uid: "" },
    });
  });

  it("of a delete pass the old object to the handler", async () => {
    const gone: string[] = [];
    const validator = validating(Order, { delete: (old) => void gone.push(old.metadata.name) });
    await validateReview([validator], review({ operation: "DELETE", object: null, oldObject: object }));
    expect(gone).toEqual(["a"]);
  });

  it("answer a mutation with a JSON patch, which may be empty", async () => {
    const none = parsed<Review>(await mutateReview([mutating(Order, { create: () => undefined })], review({})));
    expect(none.response).toEqual({ uid: "u1", allowed: true, patchType: "JSONPatch", patch: "W10=" });
    const twice = [2, 3].map((factor) =>
      mutating(Order, {
        create: (order) => ({ ...order, spec: { ...order.spec, count: (order.spec.count ?? 1) * factor } }),
      }),
    );
    const { response } = parsed<Review>(await mutateReview(twice, review({})));
    expect(JSON.parse(Buffer.from(response.patch!, "base64").toString())).toEqual([
      { op: "add", path: "/spec/count", value: 6 },
    ]);
  });
});

describe("conversion reviews", () => {
  const converters = [
    {
      group: "shop.example.com",
      kind: "Order",
      convert: (old: typeof object, apiVersion: string) => ({ ...old, apiVersion }),
    },
  ] as never;
  const convert = async (objects: readonly unknown[]) => {
    const request = { uid: "u1", desiredAPIVersion: "shop.example.com/v1beta1", objects };
    const answer = await convertReview(converters, webRequest("POST", "/convert", { request }));
    return parsed<{ response: object }>(answer).response;
  };

  it("return all objects in the requested version", async () => {
    expect(await convert([object])).toEqual({
      uid: "u1",
      convertedObjects: [{ ...object, apiVersion: "shop.example.com/v1beta1" }],
      result: { status: "Success" },
    });
  });

  it("fail at the first bad object: 400 if it is no object, 422 if it has no converter", async () => {
    expect(await convert([object, 1])).toMatchObject({
      convertedObjects: [],
      result: { status: "Failure", code: 400 },
    });
    expect(await convert([{ ...object, kind: "Shop" }])).toMatchObject({ result: { status: "Failure", code: 422 } });
  });

  it("fail with the converter's error: 500, or its own status", async () => {
    const failing = async (error: Error) => {
      const convert = (): never => {
        throw error;
      };
      const request = { uid: "u1", desiredAPIVersion: "shop.example.com/v1beta1", objects: [object, object] };
      const converter = { group: "shop.example.com", kind: "Order", convert };
      return parsed(await convertReview([converter], webRequest("POST", "/convert", { request })));
    };
    const failure = (code: number, message: string) => ({
      response: { uid: "u1", convertedObjects: [], result: { status: "Failure", code, message } },
    });
    expect(await failing(new Error("no such field"))).toMatchObject(failure(500, "objects[0]: no such field"));
    const refused = new RefusedError(409, "Conflict", "not now");
    expect(await failing(refused)).toMatchObject(failure(409, "objects[0]: not now"));
  });
});

describe("jsonPatch", () => {
  it("turns any value into any other", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (from, to) => {
        expect(patched(from, jsonPatch(from, to))).toEqual(to);
      }),
    );
  });

  it("is empty for equal values, and does not touch equal parts", () => {
    expect(jsonPatch({ a: [1, { b: 2 }] }, { a: [1, { b: 2 }] })).toEqual([]);
    expect(jsonPatch({ a: 1, "b/c": { "~": 1 } }, { a: 1, "b/c": { "~": 2 } })).toEqual([
      { op: "replace", path: "/b~1c/~0", value: 2 },
    ]);
  });
});

/** RFC 6902, as far as `jsonPatch` uses it. */
function patched(from: unknown, operations: readonly JsonPatchOperation[]): unknown {
  const root = { "": structuredClone(from) } as Record<string, unknown>;
  for (const operation of operations) {
    const parts = operation.path.split("/").map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
    const last = parts.pop()!;
    const parent = parts.reduce<unknown>((at, part) => (at as Record<string, unknown>)[part], root);
    if (operation.op === "remove") {
      if (Array.isArray(parent)) parent.splice(Number(last), 1);
      else delete (parent as Record<string, unknown>)[last];
    } else if ("value" in operation) {
      const value = structuredClone(operation.value);
      if (Array.isArray(parent) && last === "-") parent.push(value);
      else Object.defineProperty(parent, last, { value, enumerable: true, configurable: true, writable: true });
    }
  }
  return root[""];
}
