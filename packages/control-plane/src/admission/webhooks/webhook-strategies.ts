import type { KubeObject } from "setpoint";
import { dns1035Label, dnsSubdomain } from "setpoint/kinds";
import { fieldErrors } from "../../api/error-budget.js";
import { duplicate, invalidValue, notSupported, required } from "../../api/field-error.js";
import type { FieldError } from "../../api/status-error.js";
import type { Strategy } from "../../kinds/strategy.js";
import { conditionErrors } from "../expressions/expression-errors.js";
import type { ServiceReference, Webhook, WebhookClientConfig, WebhookRule } from "./webhook.js";

const REVIEW_VERSIONS = ["v1", "v1beta1"];
const OPERATIONS = ["*", "CONNECT", "CREATE", "DELETE", "UPDATE"];

/** Validation of webhook configurations. */
export const webhookStrategy: Pick<Strategy, "validate" | "validateUpdate"> = {
  validate: errorsOf,
  validateUpdate: errorsOf,
};

function errorsOf(object: KubeObject): readonly FieldError[] {
  const { webhooks } = object as KubeObject & { readonly webhooks?: readonly Webhook[] | null };
  const names = new Set<string>();
  return (webhooks ?? []).flatMap((webhook, index) => {
    const path = `webhooks[${index}]`;
    const isTaken = webhook.name !== "" && names.has(webhook.name);
    names.add(webhook.name);
    return [
      ...webhookErrors(webhook, path),
      ...versionErrors(webhook.admissionReviewVersions ?? [], `${path}.admissionReviewVersions`),
      ...(isTaken ? [duplicate(`${path}.name`, webhook.name)] : []),
    ];
  });
}

function webhookErrors(webhook: Webhook, path: string): readonly FieldError[] {
  const { failurePolicy, matchPolicy, sideEffects, timeoutSeconds, reinvocationPolicy } = webhook;
  const oneOf = (field: string, value: string | null | undefined, allowed: readonly string[]): FieldError[] =>
    value === undefined || value === null || allowed.includes(value)
      ? []
      : [notSupported(`${path}.${field}`, value, allowed)];
  const isTimely = timeoutSeconds === undefined || (timeoutSeconds >= 1 && timeoutSeconds <= 30);
  return [
    ...qualifiedNameErrors(webhook.name ?? "", `${path}.name`),
    ...(webhook.rules ?? []).flatMap((rule, index) => ruleErrors(rule, `${path}.rules[${index}]`)),
    ...oneOf("failurePolicy", failurePolicy, ["Fail", "Ignore"]),
    ...oneOf("matchPolicy", matchPolicy, ["Equivalent", "Exact"]),
    ...(sideEffects === undefined || sideEffects === null
      ? [required(`${path}.sideEffects`, "must specify one of None, NoneOnDryRun")]
      : oneOf("sideEffects", sideEffects, ["None", "NoneOnDryRun"])),
    ...(isTimely
      ? []
      : [invalidValue(`${path}.timeoutSeconds`, timeoutSeconds, "the timeout value must be between 1 and 30 seconds")]),
    ...oneOf("reinvocationPolicy", reinvocationPolicy, ["IfNeeded", "Never"]),
    ...clientConfigErrors(webhook.clientConfig ?? {}, `${path}.clientConfig`),
    ...conditionErrors(webhook.matchConditions ?? [], `${path}.matchConditions`, {
      hasParams: false,
      hasAuthorizer: true,
    }),
  ];
}

function qualifiedNameErrors(name: string, path: string): readonly FieldError[] {
  if (name === "") return [required(path)];
  const complaints = dnsSubdomain(name);
  if (complaints.length > 0) return complaints.map((why) => invalidValue(path, name, why));
  if (name.split(".").length >= 3) return [];
  return [invalidValue(path, name, "should be a domain with at least three segments separated by dots")];
}

function versionErrors(versions: readonly string[], path: string): readonly FieldError[] {
  if (versions.length === 0) return [required(path, `must specify one of ${REVIEW_VERSIONS.join(", ")}`)];
  const errors = versions.flatMap((version, index) =>
    versions.indexOf(version) < index
      ? [invalidValue(`${path}[${index}]`, version, "duplicate version")]
      : dns1035Label(version).map((why) => invalidValue(`${path}[${index}]`, version, why)),
  );
  if (versions.some((version) => REVIEW_VERSIONS.includes(version))) return errors;
  return [...errors, invalidValue(path, versions, `must include at least one of ${REVIEW_VERSIONS.join(", ")}`)];
}

export function ruleErrors(rule: WebhookRule, path: string): readonly FieldError[] {
  const list = (field: keyof WebhookRule, word: string): FieldError[] => {
    const values = (rule[field] ?? []) as readonly string[];
    if (values.length === 0) return [required(`${path}.${field}`)];
    const isMixed = values.length > 1 && values.includes("*");
    return isMixed
      ? [invalidValue(`${path}.${field}`, values, `if '*' is present, must not specify other ${word}`)]
      : [];
  };
  const operations = rule.operations ?? [];
  const { scope } = rule;
  return [
    ...list("operations", "operations"),
    ...operations.flatMap((each, index) =>
      OPERATIONS.includes(each) ? [] : [notSupported(`${path}.operations[${index}]`, each, OPERATIONS)],
    ),
    ...list("apiGroups", "API groups"),
    ...list("apiVersions", "API versions"),
    ...(rule.apiVersions ?? []).flatMap((each, index) =>
      each === "" ? [required(`${path}.apiVersions[${index}]`)] : [],
    ),
    ...resourceErrors(rule.resources ?? [], `${path}.resources`),
    ...(scope === undefined || ["*", "Cluster", "Namespaced"].includes(scope)
      ? []
      : [notSupported(`${path}.scope`, scope, ["*", "Cluster", "Namespaced"])]),
  ];
}

function resourceErrors(resources: readonly string[], path: string): readonly FieldError[] {
  const errors: FieldError[] = resources.length === 0 ? [required(path)] : [];
  const seen = new Set<string>();
  for (const [index, pattern] of resources.entries()) {
    const [resource = "", subresource] = pattern.split("/", 2);
    if (pattern === "") errors.push(required(`${path}[${index}]`));
    if (subresource === undefined) continue;
    for (const wide of [`${resource}/*`, `*/${subresource}`]) {
      if (!seen.has(wide)) continue;
      errors.push(invalidValue(`${path}[${index}]`, pattern, `if '${wide}' is present, must not specify ${pattern}`));
    }
    seen.add(pattern);
  }
  if (resources.length > 1 && resources.includes("*/*")) {
    errors.push(invalidValue(path, resources, "if '*/*' is present, must not specify other resources"));
  }
  if (resources.includes("*") && resources.some((each) => each !== "" && each !== "*" && !each.includes("/"))) {
    const why = "if '*' is present, must not specify other resources without subresources";
    errors.push(invalidValue(path, resources, why));
  }
  return errors;
}

function clientConfigErrors({ url, service }: WebhookClientConfig, path: string): readonly FieldError[] {
  const hasUrl = url !== undefined && url !== null;
  if (hasUrl === Boolean(service)) return [required(path, "exactly one of url or service is required")];
  return hasUrl ? urlErrors(url, `${path}.url`) : serviceErrors(service!, `${path}.service`);
}

function urlErrors(text: string, path: string): readonly FieldError[] {
  const form = "; desired format: https://host[/path]";
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(text)?.[1]?.toLowerCase() ?? "";
  const errors =
    scheme === "https" ? [] : [invalidValue(path, scheme, `'https' is the only allowed URL scheme${form}`)];
  const [, authority = ""] = /^[a-z][a-z0-9+.-]*:\/\/([^/?#]*)/i.exec(text) ?? [];
  const at = authority.lastIndexOf("@");
  if (authority.slice(at + 1) === "") errors.push(invalidValue(path, "", `host must be specified${form}`));
  if (at >= 0) errors.push(invalidValue(path, authority.slice(0, at), "user information is not permitted in the URL"));
  const [beforeFragment = "", fragment = ""] = text.split("#", 2);
  if (fragment !== "") errors.push(invalidValue(path, fragment, "fragments are not permitted in the URL"));
  const query = beforeFragment.split("?", 2)[1] ?? "";
  if (query !== "") errors.push(invalidValue(path, query, "query parameters are not permitted in the URL"));
  return errors;
}

function serviceErrors(
  { name, namespace, port = 443, path: target }: ServiceReference,
  path: string,
): readonly FieldError[] {
  const errors: FieldError[] = fieldErrors();
  // The real server swaps the two fields.
  if (!namespace) errors.push(required(`${path}.name`));
  if (!name) errors.push(required(`${path}.namespace`));
  if (port < 1 || port > 65535) {
    errors.push(invalidValue(`${path}.port`, port, "port is not valid: must be between 1 and 65535, inclusive"));
  }
  if (!target || target === "/") return errors;
  const refuse = (why: string): number => errors.push(invalidValue(`${path}.path`, target, why));
  if (!target.startsWith("/")) refuse("must start with a '/'");
  for (const [index, segment] of target.slice(1).replace(/\/$/, "").split("/").entries()) {
    if (segment === "") refuse(`segment[${index}] may not be empty`);
    else for (const why of dnsSubdomain(segment)) refuse(`segment[${index}]: ${why}`);
  }
  return errors;
}
