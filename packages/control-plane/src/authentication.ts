import { pathAccess, resourceAccess } from "./auth/access-request.js";
import type { RequestAuthenticator } from "./auth/authenticator.js";
import { impersonate, impersonatedUser } from "./auth/impersonation.js";
import type { AccessAttributes, Authorizer, UserInfo } from "./auth/user.js";
import type { ApiRequest } from "./http/api-request.js";
import { isWatchQuery } from "./registry/query/list-options.js";
import { parseRequestInfo, verbOf } from "./registry/request-info.js";

/** Who a request is made as: who proved to make it, or whom that one may impersonate. Throws 401 and 403. */
export function requestUser(
  authenticator: RequestAuthenticator,
  authorizer: Authorizer,
): (request: ApiRequest) => UserInfo {
  return (request) => {
    const user = authenticator.authenticate(request);
    const wanted = asksToImpersonate(request) ? impersonatedUser(request.headers) : undefined;
    return wanted ? impersonate(authorizer, wanted, accessOf(request, user)) : user;
  };
}

/** Hardly any request does; the others are not to pay for reading the headers of those. */
function asksToImpersonate({ headers }: ApiRequest): boolean {
  for (const name in headers) if (name.startsWith("impersonate-")) return true;
  return false;
}

function accessOf(request: ApiRequest, user: UserInfo): AccessAttributes {
  const { method, path, query } = request;
  const info = parseRequestInfo(path);
  if (info.type === "path") return pathAccess(user, method, path);
  const verb = verbOf(method, info.name !== "", isWatchQuery(query));
  return resourceAccess(user, verb ?? method.toLowerCase(), info);
}
