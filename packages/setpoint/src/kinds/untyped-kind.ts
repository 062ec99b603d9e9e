import type { Kind, Scope, UntypedKind } from "./kind.js";
import { parseKindId, pluralOf } from "./kind-id.js";
import type { KubeObject, UntypedObject } from "./object.js";

export interface KindOptions {
  /** Defaults to the English plural. */
  readonly plural?: string;
  /** Defaults to `Namespaced`. */
  readonly scope?: Scope;
}

/**
 * A kind with untyped objects, if you have no schema.
 *
 * ```ts
 * const Certificate = untypedKind("cert-manager.io/v1/Certificate");
 * ```
 */
export function untypedKind(id: `${string}/${string}`, options?: KindOptions): UntypedKind {
  return kind<UntypedObject>(id, options);
}

/**
 * A kind whose objects are typed by hand; nothing checks that the server agrees.
 *
 * ```ts
 * interface Certificate extends KubeObject {
 *   readonly apiVersion: "cert-manager.io/v1";
 *   readonly kind: "Certificate";
 *   readonly spec: { readonly secretName: string };
 * }
 * const Certificate = kind<Certificate>("cert-manager.io/v1/Certificate");
 * ```
 */
export function kind<T extends KubeObject>(
  id: `${T["apiVersion"]}/${T["kind"]}`,
  { plural, scope = "Namespaced" }: KindOptions = {},
): Kind<T> {
  const { group, version, kind: name, apiVersion } = parseKindId(id);
  return { group, version, kind: name, apiVersion, plural: plural ?? pluralOf(name), scope };
}
