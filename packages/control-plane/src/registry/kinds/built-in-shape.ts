import type { KubeObject } from "setpoint";
import type { Facts } from "../../facts/facts.js";
import { DecodingError, decodeStruct } from "../../schema/go-decoding.js";
import { apiVersionOf } from "../catalog.js";
import type { ObjectShape } from "../resource-definition.js";
import { badRequest } from "../status-error.js";
import { asJson } from "../write/field-ownership.js";

/** Built-in kinds are Go structs on the real server, and are read and written as one would be. */
export function builtInShape(facts: Facts, group: string, version: string, kind: string): ObjectShape {
  const message = facts.messageOf(apiVersionOf({ group, version }), kind);
  return {
    prune: (object) => {
      if (message === undefined) return { object, unknownFields: [] };
      try {
        const decoded = decodeStruct(message, asJson(object));
        return { object: decoded.object as unknown as KubeObject, unknownFields: decoded.unknown };
      } catch (error) {
        if (!(error instanceof DecodingError)) throw error;
        throw badRequest(`${kind} in version "${version}" cannot be handled as a ${kind}: ${error.message}`);
      }
    },
    applyDefaults: (object) => object,
    validate: () => [],
  };
}
