import type { KubeObject } from "setpoint";
import { seededRandom, systemClock } from "setpoint/clock";
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../api/json.js";
import type { StatusError } from "../../api/status-error.js";
import { webhookConversion } from "./conversion-webhook.js";
import { WebhookCaller } from "./webhook-caller.js";

// biome-ignore lint/suspicious/noExplicitAny: tests look into reviews of every kind.
type Any = any;

const original = {
  apiVersion: "example.com/v1",
  kind: "Thing",
  metadata: { name: "a", namespace: "n", uid: "u", resourceVersion: "7", labels: { old: "1" } },
  spec: { size: 1 },
} as unknown as KubeObject;

function convert(answer: (request: Any) => object, objects: readonly KubeObject[] = [original]) {
  const handler = async (review: JsonObject): Promise<JsonObject> => answer((review as Any).request) as JsonObject;
  const conversion = webhookConversion({
    caller: new WebhookCaller({ clock: systemClock, services: () => ({ handler }) }),
    random: seededRandom(1),
    clientConfig: { service: { namespace: "n", name: "convert" } },
    reviewVersions: ["v1"],
    servedApiVersion: "example.com/v2",
    storedApiVersion: "example.com/v1",
  });
  return conversion.toServed(objects, new AbortController().signal);
}

const review = (response: object) => ({ apiVersion: "apiextensions.k8s.io/v1", kind: "ConversionReview", response });
const success = (change: (object: Any) => object) => (request: Any) =>
  review({ uid: request.uid, result: { status: "Success" }, convertedObjects: request.objects.map(change) });

async function failure(answer: (request: Any) => object): Promise<string> {
  const error = await convert(answer).then(
    () => undefined,
    (reason: StatusError) => reason,
  );
  return error?.status.message.replace("conversion webhook for example.com/v1, Kind=Thing ", "") ?? "converted";
}

describe("webhookConversion", () => {
  it("converts objects of another version and restores their metadata except labels and annotations", async () => {
    const asked: Any[] = [];
    const current = { ...original, apiVersion: "example.com/v2", metadata: { ...original.metadata, name: "b" } };
    const [first, second] = await convert(
      (request) => {
        asked.push(request);
        const metadata = { name: "a", namespace: "n", uid: "u", resourceVersion: "666", labels: { new: "1" } };
        return success((object) => ({
          ...object,
          apiVersion: request.desiredAPIVersion,
          metadata,
          spec: { length: 1 },
        }))(request);
      },
      [original, current],
    );
    expect(asked[0]).toMatchObject({ desiredAPIVersion: "example.com/v2", objects: [original] });
    expect(first).toEqual({
      apiVersion: "example.com/v2",
      kind: "Thing",
      metadata: { name: "a", namespace: "n", uid: "u", resourceVersion: "7", labels: { new: "1" } },
      spec: { length: 1 },
    });
    expect(second).toBe(current);
  });

  it("is not called if there is nothing to convert", async () => {
    const current = { ...original, apiVersion: "example.com/v2" };
    expect(await convert(() => ({}), [current])).toEqual([current]);
  });

  it("fails in the real server's words", async () => {
    expect(await failure((request) => review({ uid: request.uid, result: { status: "Failure", message: "no" } }))).toBe(
      "failed: no",
    );
    expect(await failure((request) => review({ uid: request.uid, result: {} }))).toBe(
      "failed: response.result.status was '', not 'Success'",
    );
    expect(await failure(() => review({ uid: "x" }))).toMatch(/^failed: expected response.uid=".*", got "x"$/);
    expect(await failure(() => ({ apiVersion: "v1", kind: "Pod" }))).toContain("failed: expected webhook response of");
    expect(await failure((request) => review({ uid: request.uid, result: { status: "Success" } }))).toBe(
      "returned 0 objects, expected 1",
    );
    expect(await failure(success((object) => object))).toBe(
      "returned invalid converted object at index 0: invalid groupVersion (expected example.com/v2, received example.com/v1)",
    );
    const renamed = success((object) => ({
      ...object,
      apiVersion: "example.com/v2",
      metadata: { ...object.metadata, name: "z" },
    }));
    expect(await failure(renamed)).toBe(
      "returned invalid converted object at index 0: must have the same name: a != z",
    );
  });
});
