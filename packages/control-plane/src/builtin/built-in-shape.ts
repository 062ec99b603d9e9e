import type { KubeObject } from "setpoint";
import { asJson } from "../api/json.js";
import type { Facts } from "../facts/facts.js";
import { apiVersionOf } from "../kinds/catalog.js";
import type { ObjectShape } from "../kinds/resource-definition.js";
import { decodeStruct } from "../schema/go-decoding.js";
import type { BuiltInDefaults } from "./defaults/built-in-defaults.js";

/** Reads and writes a built-in kind like the Go struct that it is in kube-apiserver. */
export function builtInShape(
  facts: Facts,
  defaults: BuiltInDefaults,
  group: string,
  version: string,
  kind: string,
): ObjectShape {
  const component = facts.componentOf(group, version, kind);
  const message = facts.messageOf(apiVersionOf({ group, version }), kind);
  return {
    prune: (object, known) => {
      if (message === undefined) return { object, unknownFields: [] };
      const decoded = decodeStruct(message, asJson(object), known && asJson(known));
      return { object: decoded.object as unknown as KubeObject, unknownFields: decoded.unknown };
    },
    applyDefaults: (object, known) => {
      if (component === undefined) return object;
      return defaults.apply(component, asJson(object), known && asJson(known)) as unknown as KubeObject;
    },
    validate: () => [],
  };
}
