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
  ])("case 39: are posted, as JSON with a request, to %s", async (_, answer) => {
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

  it("of a subresource go by the resource, since its objects are of another kind", async () => {
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

  it("take what a mutator changes in place and returns; what it does not return is not taken", async () => {
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

  it("of a webhook with a policy of its own ask the handlers of that policy; all, where none has it", async () => {
    const seen: string[] = [];
    const strict = validating(Order, { create: () => void seen.push("strict") });
    const lax = validating(Order, { failurePolicy: "Ignore", create: () => void seen.push("lax") });
    for (const policy of [policyId(strict), policyId(lax), "another"]) {
      await validateReview([strict, lax], review({}), policy);
      seen.push("|");
    }
    expect(seen).toEqual(["strict", "|", "lax", "|", "strict", "lax", "|"]);
  });

  it("of a kind without a handler are an error of the server [case 39]", async () => {
    const answer = await validateReview([], review({}));
    expect(answer).toMatchObject({ status: 500, body: "no handler is registered for shop.example.com/v1/Order\n" });
  });

  it("an error with 409 and a reason denies with both [case 39]", async () => {
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

  it("go by the kind that the object was converted to [case 39]", async () => {
    const seen: string[] = [];
    const validators = [
      validating(Order, { create: () => void seen.push("v1") }),
      validating(OldOrder, { create: () => void seen.push("v1beta1") }),
    ];
    await validateReview(validators, review({ requestKind: { ...kind, version: "v1beta1" } }));
    expect(seen).toEqual(["v1"]);
  });

  it("tell the handler user, namespace, subresource and dry run, and pass its warnings on", async () => {
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

  it("of a delete give what is to go", async () => {
    const gone: string[] = [];
    const validator = validating(Order, { delete: (old) => void gone.push(old.metadata.name) });
    await validateReview([validator], review({ operation: "DELETE", object: null, oldObject: object }));
    expect(gone).toEqual(["a"]);
  });

  it("answer a mutation with the difference; an empty one is []", async () => {
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

  it("give all objects in the version asked for", async () => {
    expect(await convert([object])).toEqual({
      uid: "u1",
      convertedObjects: [{ ...object, apiVersion: "shop.example.com/v1beta1" }],
      result: { status: "Success" },
    });
  });

  it("fail at the first object that cannot be had: 400 for none, 422 for one that nothing converts", async () => {
    expect(await convert([object, 1])).toMatchObject({
      convertedObjects: [],
      result: { status: "Failure", code: 400 },
    });
    expect(await convert([{ ...object, kind: "Shop" }])).toMatchObject({ result: { status: "Failure", code: 422 } });
  });

  it("fail with what a converter throws: 500, or the status that it names", async () => {
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

  it("of equal values is empty, and leaves alone what is equal", () => {
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
