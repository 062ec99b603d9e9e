import type { KubeObject } from "setpoint";
import { bytesOf, CLOSING_BRACE, EVENT_HEADS, type Presentation } from "./presentation.js";

export function partialObjectMetadata(object: KubeObject, version: string): object {
  return { kind: "PartialObjectMetadata", apiVersion: `meta.k8s.io/${version}`, metadata: object.metadata };
}

/** Metadata only, as the informers of garbage collectors and similar clients request it. */
export function metadataPresentation(version: string): Presentation {
  const encoded = (object: KubeObject): Uint8Array => bytesOf(JSON.stringify(partialObjectMetadata(object, version)));
  return {
    single: ({ object }) => encoded(object),
    *list(metadata, items) {
      const head = { kind: "PartialObjectMetadataList", apiVersion: `meta.k8s.io/${version}`, metadata };
      if (items.length === 0) {
        // Unlike in other lists, the real server writes `null` for no items.
        yield bytesOf(JSON.stringify({ ...head, items: null }));
        return;
      }
      yield bytesOf(`${JSON.stringify(head).slice(0, -1)},"items":[`);
      let separator = "";
      for (const { object } of items) {
        yield bytesOf(separator + JSON.stringify(partialObjectMetadata(object, version)));
        separator = ",";
      }
      yield bytesOf("]}");
    },
    event: (type, { object }) => [EVENT_HEADS[type], encoded(object), CLOSING_BRACE],
    bookmark: (metadata) => ({ kind: "PartialObjectMetadata", apiVersion: `meta.k8s.io/${version}`, metadata }),
  };
}
