import { BOOL, DYN, INT, listOf, mapOf, STRING, struct, TIMESTAMP, type Type } from "../../cel/types/type.js";

function structOf(name: string, fields: Readonly<Record<string, Type>>): Type {
  return struct(name, (field) => (Object.hasOwn(fields, field) ? fields[field] : undefined));
}

const TEXTS = listOf(STRING);

const KIND = structOf("kubernetes.GroupVersionKind", { group: STRING, version: STRING, kind: STRING });
const RESOURCE = structOf("kubernetes.GroupVersionResource", { group: STRING, version: STRING, resource: STRING });
const USER = structOf("kubernetes.UserInfo", {
  username: STRING,
  uid: STRING,
  groups: TEXTS,
  extra: mapOf(STRING, TEXTS),
});

/** The type of the variable `request`. */
export const REQUEST = structOf("kubernetes.AdmissionRequest", {
  kind: KIND,
  resource: RESOURCE,
  subResource: STRING,
  requestKind: KIND,
  requestResource: RESOURCE,
  requestSubResource: STRING,
  name: STRING,
  namespace: STRING,
  operation: STRING,
  userInfo: USER,
  dryRun: BOOL,
  options: DYN,
});

const CONDITION = structOf("kubernetes.NamespaceCondition", {
  status: STRING,
  type: STRING,
  lastTransitionTime: TIMESTAMP,
  message: STRING,
  reason: STRING,
});

/** The type of the variable `namespaceObject`. */
export const NAMESPACE = structOf("kubernetes.Namespace", {
  metadata: structOf("kubernetes.NamespaceMetadata", {
    name: STRING,
    generateName: STRING,
    namespace: STRING,
    labels: mapOf(STRING, STRING),
    annotations: mapOf(STRING, STRING),
    UID: STRING,
    creationTimestamp: TIMESTAMP,
    deletionGracePeriodSeconds: INT,
    deletionTimestamp: TIMESTAMP,
    generation: INT,
    resourceVersion: STRING,
    finalizers: TEXTS,
  }),
  spec: structOf("kubernetes.NamespaceSpec", { finalizers: TEXTS }),
  status: structOf("kubernetes.NamespaceStatus", { conditions: listOf(CONDITION), phase: STRING }),
});

/** The type of the variable `variables`, with the fields declared so far. */
export function variablesType(fields: ReadonlyMap<string, Type>): Type {
  return struct("kubernetes.variables", (name) => fields.get(name));
}
