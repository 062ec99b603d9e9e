import type { KubeObject } from "../../kinds/object.js";
import { statusOf } from "../refused-error.js";
import { isAnswer, jsonAnswer, reviewRequest, type WebAnswer, type WebRequest } from "../routes/web-message.js";

/** Converts objects of one kind between its versions. */
export interface Converter {
  readonly group: string;
  readonly kind: string;
  /** Must keep the metadata, except labels and annotations. */
  convert(object: KubeObject, apiVersion: string): KubeObject | Promise<KubeObject>;
}

/**
 * Answers a ConversionReview with all objects in the requested version, or with a failure at the first that cannot be
 * converted.
 */
export async function convertReview(converters: readonly Converter[], request: WebRequest): Promise<WebAnswer> {
  const asked = reviewRequest(request, "apiextensions.k8s.io/v1");
  if (isAnswer(asked)) return asked;
  const { uid, desiredAPIVersion, objects } = asked as {
    readonly uid?: string;
    readonly desiredAPIVersion?: string;
    readonly objects?: readonly unknown[];
  };
  const answer = (outcome: object): WebAnswer =>
    jsonAnswer(200, {
      kind: "ConversionReview",
      apiVersion: "apiextensions.k8s.io/v1",
      response: { uid: uid ?? "", ...outcome },
    });
  const failure = (code: number, message: string): WebAnswer =>
    answer({ convertedObjects: [], result: { status: "Failure", code, message } });
  const convertedObjects: KubeObject[] = [];
  for (const [at, object] of (objects ?? []).entries()) {
    if (!isKubeObject(object)) return failure(400, `objects[${at}]: no apiVersion, kind and metadata`);
    const group = object.apiVersion.split("/")[0];
    const converter = converters.find((each) => each.group === group && each.kind === object.kind);
    if (!converter) return failure(422, `objects[${at}]: no converter for ${object.apiVersion}/${object.kind}`);
    try {
      convertedObjects.push(await converter.convert(object, desiredAPIVersion ?? ""));
    } catch (error) {
      request.onThrown?.(error);
      const { code, message } = statusOf(error);
      return failure(code, `objects[${at}]: ${message}`);
    }
  }
  return answer({ convertedObjects, result: { status: "Success" } });
}

function isKubeObject(value: unknown): value is KubeObject {
  const { apiVersion, kind, metadata } = (value ?? {}) as Partial<KubeObject>;
  return (
    typeof apiVersion === "string" && typeof kind === "string" && typeof metadata === "object" && metadata !== null
  );
}
