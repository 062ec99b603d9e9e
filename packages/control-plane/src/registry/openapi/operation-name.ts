import type { ResourceDefinition } from "../../kinds/resource-definition.js";

export const META = "io.k8s.apimachinery.pkg.apis.meta.v1";

type Named = Pick<ResourceDefinition, "group" | "version" | "kind" | "namespaced">;

/** `listAppsV1NamespacedDeployment`: the real server's operation names. */
export function operationId(
  { group, version, kind, namespaced }: Named,
  verb: string,
  suffix: string,
  kindSuffix = "",
  method = "",
): string {
  const groupPart = group === "" ? "Core" : capital(camelGroup(group));
  const isEverywhere = suffix === "ForAllNamespaces";
  const scope = namespaced && !isEverywhere ? "Namespaced" : "";
  const [, first = verb, rest = ""] = /^(delete)(Collection)$/.exec(verb) ?? [];
  return `${first}${groupPart}${capital(version)}${rest}${method}${scope}${kind}${kindSuffix}${capital(suffix)}`;
}

export function tagOf({ group, version }: Pick<ResourceDefinition, "group" | "version">): string {
  const name = group === "" ? "core" : camelGroup(group);
  return version === "" ? name : `${name}_${version}`;
}

export function article(kind: string): string {
  return /^[AEIOU]/.test(kind) ? "an" : "a";
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function camelGroup(group: string): string {
  const parts = group.replace(/\.k8s\.io$/, "").split(/[.-]/);
  return parts.map((part, index) => (index === 0 ? part : capital(part))).join("");
}
