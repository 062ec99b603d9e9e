import { accessDenied, pathAccess, resourceAccess } from "./api/access-request.js";
import type { RequestHead } from "./api/api-request.js";
import type { AccessAttributes, Authorizer, UserInfo } from "./api/user.js";
import type { RequestAuthenticator } from "./auth/authenticator.js";
import { parseServiceAccountUser } from "./auth/groups.js";
import { impersonate, impersonatedUser } from "./auth/impersonation.js";
import { SYSTEM_MASTERS } from "./auth/rbac/rbac-authorizer.js";

/** The user of a request: the authenticated user, or an impersonated one if that is allowed. Throws 401 and 403. */
export function requestUser(
  authenticator: RequestAuthenticator,
  authorizer: Authorizer,
): (request: RequestHead) => UserInfo {
  return (request) => {
    const user = authenticator.authenticate(request);
    const wanted = asksToImpersonate(request) ? impersonatedUser(request.headers) : undefined;
    return wanted ? impersonate(authorizer, wanted, accessOf(request, user)) : user;
  };
}

/** Few requests impersonate. The others should not pay for parsing the headers. */
function asksToImpersonate({ headers }: RequestHead): boolean {
  for (const name in headers) if (name.startsWith("impersonate-")) return true;
  return false;
}

/** Throws 403 if the user may not do what the request asks for. */
export function requireAccess(authorizer: Authorizer, request: RequestHead, user: UserInfo): void {
  const attributes = accessOf(request, user);
  const { allowed, reason } = authorizer.authorize(attributes);
  if (!allowed) throw accessDenied(attributes, reason);
}

/**
 * The flow whose limits apply to a user. A user who may create service accounts could create any number of them, so
 * the service accounts of a namespace share its limits. Administrators have no limits, as in kube-apiserver.
 */
export function flowOf({ name, groups }: UserInfo): string | undefined {
  if (groups.includes(SYSTEM_MASTERS)) return undefined;
  const account = parseServiceAccountUser(name);
  return account === undefined ? name : `${SERVICE_ACCOUNTS}${account.namespace}`;
}

const SERVICE_ACCOUNTS = "system:serviceaccount:";

function accessOf(request: RequestHead, user: UserInfo): AccessAttributes {
  const { method, path, info } = request;
  return info.type === "path" ? pathAccess(user, method, path) : resourceAccess(user, info.verb ?? "", info);
}
