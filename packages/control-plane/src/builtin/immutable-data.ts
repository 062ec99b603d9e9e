import type { KubeObject } from "setpoint";
import { isSameJson, type UntypedObject } from "setpoint/kinds";
import { forbiddenField, invalidValue } from "../api/field-error.js";
import type { Json } from "../api/json.js";
import type { FieldError } from "../api/status-error.js";

const SEALED = "field is immutable when `immutable` is set";

/** An immutable ConfigMap keeps its data and stays immutable. */
export function validateConfigMapUpdate(configMap: KubeObject, old: KubeObject): readonly FieldError[] {
  return sealErrors(configMap, old, ["data", "binaryData"]);
}

/** An immutable Secret keeps its data and stays immutable. Every Secret keeps its type. */
export function validateSecretUpdate(secret: KubeObject, old: KubeObject): readonly FieldError[] {
  const { type } = secret as UntypedObject;
  const isRetyped = type !== (old as UntypedObject).type;
  return [
    ...(isRetyped ? [invalidValue("type", type, "field is immutable")] : []),
    ...sealErrors(secret, old, ["data"]),
  ];
}

function sealErrors(object: KubeObject, old: KubeObject, fields: readonly string[]): readonly FieldError[] {
  const before = old as UntypedObject;
  const after = object as UntypedObject;
  if (before.immutable !== true) return [];
  const broken = after.immutable === true ? [] : ["immutable"];
  const changed = fields.filter((field) => !isSameJson((before[field] ?? {}) as Json, (after[field] ?? {}) as Json));
  return [...broken, ...changed].map((field) => forbiddenField(field, SEALED));
}
