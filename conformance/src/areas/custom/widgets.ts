import type { Body, Session } from "../../session.js";

/** The path of CRDs. */
export const crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/** A CRD of the case's own group, with the given schema of `spec`. */
export function widgets(
  s: Session,
  spec: object,
  extra: { version?: object; crd?: object; schema?: object } = {},
): Body {
  const schema = {
    openAPIV3Schema: {
      type: "object",
      properties: { spec, status: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
      ...extra.schema,
    },
  };
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `widgets.${s.group}` },
    spec: {
      group: s.group,
      scope: "Namespaced",
      names: { plural: "widgets", kind: "Widget", shortNames: [`wd${s.namespace.slice(5)}`], categories: ["all"] },
      versions: [{ name: "v1", served: true, storage: true, schema, ...extra.version }],
      ...extra.crd,
    },
  };
}

export const widget = (s: Session, name: string, spec?: unknown): Body => ({
  apiVersion: `${s.group}/v1`,
  kind: "Widget",
  metadata: { name },
  ...(spec === undefined ? {} : { spec }),
});

export const widgetPath = (s: Session): string => `/apis/${s.group}/v1/namespaces/${s.namespace}/widgets`;

/** A schema of an object with these properties. */
export const object = (properties: object, rest: object = {}): object => ({ type: "object", properties, ...rest });
