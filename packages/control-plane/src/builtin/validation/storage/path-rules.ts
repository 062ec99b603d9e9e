import { dnsSubdomain } from "setpoint/kinds";
import { invalidValue, required } from "../../../api/field-error.js";
import { internal } from "../internal-struct.js";
import { type Rule, type StructRule, text } from "../rule.js";

const hasBacksteps = (path: string): boolean => path.split("/").includes("..");
const BACKSTEPS = "must not contain '..'";

export const noBacksteps: Rule = text((path) => (hasBacksteps(path) ? [BACKSTEPS] : []));

/** A relative path without backsteps. */
export const descendingPath: Rule = text((path) => [
  ...(path.startsWith("/") ? ["must be a relative path"] : []),
  ...(hasBacksteps(path) ? [BACKSTEPS] : []),
]);

/** A relative path without backsteps that does not start with `..`, which the kubelet reserves. */
export const unreservedPath: Rule = (value, path, errors) => {
  descendingPath(value, path, errors);
  const given = String(value ?? "");
  if (given.startsWith("..") && !given.startsWith("../../"))
    errors.push(invalidValue(path, given, "must not start with '..'"));
};

/** A Localhost profile has a path. Other profiles have none. */
export function localhostProfile(of: "seccomp" | "AppArmor"): StructRule {
  return (profile, path, errors) => {
    const { type, localhostProfile: file } = profile;
    const at = `${path}.localhostProfile`;
    const isGiven = file !== undefined && file !== null;
    if (type === "Localhost") {
      if (!isGiven || (of === "AppArmor" && file === ""))
        errors.push(required(at, `must be set when ${of} type is Localhost`));
      else if (of === "seccomp") descendingPath(file, at, errors);
    } else if (isGiven && (of === "seccomp" || type === "RuntimeDefault" || type === "Unconfined")) {
      const shown = of === "seccomp" ? internal("core.SeccompProfile", profile) : file;
      errors.push(invalidValue(at, shown, `can only be set when ${of} type is Localhost`));
    }
  };
}

/** A domain and a path below it: `acme.io/foo`. */
export const domainPath: Rule = (value, path, errors) => {
  const given = String(value ?? "");
  if (given === "") return void errors.push(required(path));
  const [domain = "", ...rest] = given.split("/");
  const below = rest.join("/");
  if (rest.length === 0 || domain === "" || below === "") {
    return void errors.push(invalidValue(path, given, 'must be a domain-prefixed path (such as "acme.io/foo")'));
  }
  for (const why of dnsSubdomain(domain)) errors.push(invalidValue(path, domain, why));
  if (!HTTP_PATH.test(below)) {
    const why = `Invalid path (regex used for validation is '${HTTP_PATH.source.slice(1, -1)}')`;
    errors.push(invalidValue(path, below, why));
  }
  return undefined;
};

const HTTP_PATH = /^[A-Za-z0-9/\-._~%!$&'()*+,;=:]+$/;
