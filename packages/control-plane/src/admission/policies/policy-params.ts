import type { Json } from "../../api/json.js";
import type { ResourceCatalog } from "../../kinds/catalog.js";
import { selectorOf } from "../../registry/selectors/object-label-selector.js";
import type { Storage } from "../../storage/storage.js";
import type { MutatingPolicy, ParamRef, ValidatingPolicy } from "./policy.js";

/** Why a binding is not usable. The failurePolicy decides whether the request is denied. */
export class BindingProblem extends Error {}

/**
 * The objects that a binding passes to a policy as `params`. The policy is evaluated once for each. Null stands for a
 * policy or binding without parameters. Throws `BindingProblem`.
 */
export function paramsOf(
  { spec }: ValidatingPolicy | MutatingPolicy,
  reference: ParamRef | null | undefined,
  namespace: string,
  storage: Storage,
  catalog: ResourceCatalog,
): readonly Json[] {
  const { paramKind } = spec;
  if (!paramKind || !reference) return [null];
  const definition = catalog.findKind(paramKind.apiVersion, paramKind.kind);
  if (definition === undefined) {
    throw new BindingProblem(`paramKind kind \`${paramKind.apiVersion}, Kind=${paramKind.kind}\` not known`);
  }
  if (reference.namespace && !definition.namespaced) {
    throw new BindingProblem("paramRef.namespace must not be provided for a cluster-scoped `paramKind`");
  }
  const home = definition.namespaced ? reference.namespace || namespace : "";
  if (definition.namespaced && home === "") {
    const why = "cannot use namespaced paramRef in policy binding that matches cluster-scoped resources";
    throw new BindingProblem(why);
  }
  const found: Json[] = [];
  if (reference.name) {
    const key = definition.namespaced ? `${home}/${reference.name}` : reference.name;
    const stored = storage.get(definition.storageId, key);
    if (stored !== undefined) found.push(stored.object as unknown as Json);
  } else {
    const selector = selectorOf(reference.selector);
    const entries = storage.snapshot(definition.storageId)?.entries(definition.namespaced ? { namespace: home } : {});
    for (const { object } of entries ?? []) {
      if (selector(object.metadata.labels)) found.push(object as unknown as Json);
    }
  }
  if (found.length === 0 && reference.parameterNotFoundAction === "Deny") {
    throw new BindingProblem("no params found for policy binding with `Deny` parameterNotFoundAction");
  }
  return found;
}
