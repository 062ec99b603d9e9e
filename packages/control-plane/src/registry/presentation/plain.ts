import type { KubeObject } from "setpoint";
import { apiVersionOf } from "../../kinds/catalog.js";
import type { ResourceDefinition } from "../../kinds/resource-definition.js";
import { headOf } from "../read/served-form.js";
import { bytesOf, CLOSING_BRACE, EVENT_HEADS, type Presentation } from "./presentation.js";

const OPENING_BRACE = bytesOf("{");
const COMMA = bytesOf(",");
const LIST_END = bytesOf("]}");

/** Plain objects, straight from the bytes that the storage keeps. */
export function plainPresentation(definition: ResourceDefinition): Presentation {
  const apiVersion = apiVersionOf(definition);
  const head = headOf(definition);
  return {
    single: ({ json }) => json,
    *list(listMetadata, items) {
      // Lists of custom resources always have a `continue` field, even on the last page.
      const metadata = definition.isBuiltIn ? listMetadata : { continue: "", ...listMetadata };
      const start = `{"kind":"${definition.listKind}","apiVersion":"${apiVersion}","metadata":${JSON.stringify(metadata)},"items":[`;
      yield bytesOf(start);
      let isFirst = true;
      for (const { json } of items) {
        if (!isFirst) yield COMMA;
        isFirst = false;
        // Items of built-in kinds omit kind and apiVersion, because the list states them.
        if (definition.isBuiltIn && startsWith(json, head)) {
          yield OPENING_BRACE;
          yield json.subarray(head.byteLength);
        } else yield json;
      }
      yield LIST_END;
    },
    event: (type, { json }) => [EVENT_HEADS[type], json, CLOSING_BRACE],
    bookmark: (metadata) => ({ ...emptyObject(definition, apiVersion), metadata }),
  };
}

/** An object without content. For a built-in kind it still has the fields that a Go struct always writes. */
function emptyObject({ kind, group, isBuiltIn, shape }: ResourceDefinition, apiVersion: string): object {
  const identity = { kind, apiVersion, metadata: {} };
  if (!isBuiltIn) return identity;
  // The real server's internal type holds replicas as a plain integer, which cannot be unset.
  const content = group === "apps" ? { spec: { replicas: 0 } } : {};
  return shape.prune({ ...identity, ...content } as KubeObject).object;
}

function startsWith(bytes: Uint8Array, prefix: Uint8Array): boolean {
  if (bytes.byteLength < prefix.byteLength) return false;
  for (let index = 0; index < prefix.byteLength; index++) if (bytes[index] !== prefix[index]) return false;
  return true;
}
