import { invalidValue, required, tooLong } from "../../api/field-error.js";
import { isArray, isObject, type Json, type JsonObject } from "../../api/json.js";
import type { FieldError } from "../../api/status-error.js";
import { goSyntaxError } from "../../schema/json-syntax.js";
import { object, type Rule } from "./rule.js";

const MAX_BYTES = 1_048_576;

/** Errors in a key of a ConfigMap or Secret. */
export function configKeyComplaints(key: string): readonly string[] {
  const complaints: string[] = [];
  if (Buffer.byteLength(key) > 253) complaints.push("must be no more than 253 characters");
  if (!/^[-._a-zA-Z0-9]+$/.test(key)) {
    complaints.push(
      "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')",
    );
  } else if (key === "." || key === "..") complaints.push(`must not be '${key}'`);
  else if (key.startsWith("..")) complaints.push("must not start with '..'");
  return complaints;
}

function keys(data: JsonObject, path: string, errors: FieldError[]): void {
  for (const key of Object.keys(data)) {
    for (const why of configKeyComplaints(key)) errors.push(invalidValue(`${path}[${key}]`, key, why));
  }
}

const bytesOf = (value: Json | undefined): number => Buffer.byteLength(String(value ?? ""), "base64");

function configMapErrors(value: JsonObject, errors: FieldError[]): void {
  const [data, binary] = [object(value.data), object(value.binaryData)];
  let bytes = 0;
  for (const [key, text] of Object.entries(data)) {
    for (const why of configKeyComplaints(key)) errors.push(invalidValue(`data[${key}]`, key, why));
    if (Object.hasOwn(binary, key))
      errors.push(invalidValue(`data[${key}]`, key, "duplicate of key present in binaryData"));
    bytes += Buffer.byteLength(String(text));
  }
  keys(binary, "binaryData", errors);
  for (const encoded of Object.values(binary)) bytes += bytesOf(encoded);
  if (bytes > MAX_BYTES) errors.push(tooLong("", MAX_BYTES));
}

/** The required keys of a Secret by type. */
const CONTENTS: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries({
    "kubernetes.io/dockercfg": [".dockercfg"],
    "kubernetes.io/dockerconfigjson": [".dockerconfigjson"],
    "kubernetes.io/ssh-auth": ["ssh-privatekey"],
    "kubernetes.io/tls": ["tls.crt", "tls.key"],
  }),
);
const SERVICE_ACCOUNT = "kubernetes.io/service-account.name";

function secretErrors(value: JsonObject, errors: FieldError[]): void {
  const data = object(value.data);
  keys(data, "data", errors);
  const bytes = Object.values(data).reduce<number>((sum, encoded) => sum + bytesOf(encoded), 0);
  if (bytes > MAX_BYTES) errors.push(tooLong("data", MAX_BYTES));
  const type = String(value.type ?? "");
  if (type === "kubernetes.io/service-account-token" && !object(object(value.metadata).annotations)[SERVICE_ACCOUNT]) {
    errors.push(required(`metadata.annotations[${SERVICE_ACCOUNT}]`));
  }
  if (type === "kubernetes.io/basic-auth" && data.username === undefined && data.password === undefined) {
    errors.push(required("data[username]"), required("data[password]"));
  }
  for (const key of CONTENTS.get(type) ?? []) {
    const isEmptyKey = type === "kubernetes.io/ssh-auth" && bytesOf(data[key]) === 0;
    if (data[key] === undefined || isEmptyKey) errors.push(required(`data[${key}]`));
    else if (key.startsWith(".docker")) jsonErrors(data[key]!, `data[${key}]`, errors);
  }
}

function jsonErrors(encoded: Json, path: string, errors: FieldError[]): void {
  const text = Buffer.from(String(encoded), "base64").toString("utf8");
  const refuse = (why: string): void => void errors.push(invalidValue(path, "<secret contents redacted>", why));
  try {
    const value = JSON.parse(text) as Json;
    if (value === null || isObject(value)) return;
    const found = isArray(value) ? "array" : typeof value === "boolean" ? "bool" : typeof value;
    refuse(`json: cannot unmarshal ${found} into Go value of type map[string]interface {}`);
  } catch {
    refuse(goSyntaxError(text));
  }
}

export const configRules: Readonly<Record<string, Rule>> = {
  "/configmaps": (value, _path, errors) => configMapErrors(object(value), errors),
  "/secrets": (value, _path, errors) => secretErrors(object(value), errors),
};
