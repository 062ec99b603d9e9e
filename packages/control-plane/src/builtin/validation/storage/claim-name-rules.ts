import { duplicate, invalidValue, notFound, required } from "../../../api/field-error.js";
import type { Json, JsonObject } from "../../../api/json.js";
import { internal } from "../internal-struct.js";
import { given, label1123, list, object, pointed, type Rule, subdomain } from "../rule.js";

/** A pod's resource claims: unique names, each existing or created from a template. */
export const resourceClaims: Rule = (value, path, errors) => {
  const names = new Set<Json>();
  for (const [index, claim] of list(value).entries()) {
    const at = `${path}[${index}]`;
    const { name = "", resourceClaimName: existing, resourceClaimTemplateName: template } = claim;
    if (name === "") errors.push(required(`${at}.name`));
    else if (names.has(name)) errors.push(duplicate(`${at}.name`, name));
    else label1123(name, `${at}.name`, errors);
    names.add(name);
    const refuse = (why: string): number =>
      errors.push(invalidValue(at, internal("core.PodResourceClaim", claim), why));
    if (existing !== undefined && template !== undefined) {
      refuse("at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified");
    }
    if (existing === undefined && template === undefined) {
      refuse("must specify one of: `resourceClaimName`, `resourceClaimTemplateName`");
    }
    pointed(subdomain)(existing, `${at}.resourceClaimName`, errors);
    pointed(subdomain)(template, `${at}.resourceClaimTemplateName`, errors);
  }
};

/** The claims of its pod that a container uses: a whole claim or one of its requests, each once. */
export function claimNames(spec: JsonObject): Rule {
  const known = [...new Set(list(spec.resourceClaims).map(({ name }) => String(name ?? "")))].filter(
    (name) => name !== "",
  );
  const all = known.length === 0 ? " which is empty" : `: ${known.sort().join(", ")}`;
  return (value, path, errors) => {
    const whole = new Set<string>();
    const parts = new Set<string>();
    for (const [index, claim] of list(object(value).claims).entries()) {
      const at = `${path}.claims[${index}]`;
      const [name, request] = [String(claim.name ?? ""), String(claim.request ?? "")];
      if (name === "") {
        errors.push(required(at));
        continue;
      }
      if (whole.has(name)) errors.push(duplicate(at, name));
      else {
        given(label1123)(request, `${at}.request`, errors);
        const key = `${name}/${request}`;
        if (request === "") {
          for (const part of parts) if (part.startsWith(key)) errors.push(duplicate(at, name));
          whole.add(name);
        } else if (parts.has(key)) errors.push(duplicate(at, key));
        else parts.add(key);
      }
      if (known.includes(name)) continue;
      const missing = notFound(at, name);
      errors.push({
        ...missing,
        detail: `${missing.detail}: must be one of the names in pod.spec.resourceClaims${all}`,
      });
    }
  };
}
