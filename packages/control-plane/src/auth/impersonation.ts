import { accessDenied } from "../api/access-request.js";
import type { ApiRequest } from "../api/api-request.js";
import { goQuote } from "../api/go-format.js";
import { badRequest, type StatusError } from "../api/status-error.js";
import type { AccessAttributes, Authorizer, UserInfo } from "../api/user.js";
import {
  ANONYMOUS,
  AUTHENTICATED,
  NODES,
  parseNodeUser,
  parseServiceAccountUser,
  serviceAccountGroups,
  UNAUTHENTICATED,
} from "./groups.js";
import { SYSTEM_MASTERS } from "./rbac/rbac-authorizer.js";

const EXTRA_PREFIX = "impersonate-extra-";
const NODE_NAME_EXTRA = "authentication.kubernetes.io/node-name";
const AUTHENTICATION = "authentication.k8s.io";

/** The user that the headers impersonate; undefined without such headers. Throws 400 if they name no user. */
export function impersonatedUser(headers: ApiRequest["headers"]): UserInfo | undefined {
  const name = valuesOf(headers["impersonate-user"])[0] ?? "";
  const uid = valuesOf(headers["impersonate-uid"])[0] ?? "";
  const groups = valuesOf(headers["impersonate-group"]);
  const extras = new Map<string, readonly string[]>();
  for (const [header, value] of Object.entries(headers)) {
    if (!header.startsWith(EXTRA_PREFIX)) continue;
    const key = unescaped(header.slice(EXTRA_PREFIX.length));
    extras.set(key, [...(extras.get(key) ?? []), ...valuesOf(value)]);
  }
  const extra = Object.fromEntries(extras);
  const hasExtra = extras.size > 0;
  if (name !== "") return { name, groups, ...(uid && { uid }), ...(hasExtra && { extra }) };
  if (uid === "" && groups.length === 0 && !hasExtra) return undefined;
  throw badRequest(`requested ${goUser(uid, groups, extra)} without impersonating a user name`);
}

/**
 * Returns the impersonated user if `requestor` may impersonate it for this `request`; throws 403 otherwise. Tries the
 * most constrained mode first: `impersonate:<mode>` with `impersonate-on:<mode>:<verb>`, then the plain verb
 * `impersonate`.
 */
export function impersonate(authorizer: Authorizer, wanted: UserInfo, request: AccessAttributes): UserInfo {
  let refused: StatusError | undefined;
  for (const mode of MODES) {
    if (!mode.suits(wanted, request.user)) continue;
    try {
      if (mode.name !== "") {
        require(authorizer, { ...request, verb: `impersonate-on:${mode.name}:${request.verb}` });
      }
      return actAs(authorizer, mode, wanted, request.user);
    } catch (error) {
      refused ??= error as StatusError;
    }
  }
  throw refused;
}

interface Mode {
  /** Empty for the plain verb. */
  readonly name: string;
  suits(wanted: UserInfo, requestor: UserInfo): boolean;
}

const onlyNamed = ({ uid, groups, extra }: UserInfo): boolean => !uid && groups.length === 0 && !extra;

const MODES: readonly Mode[] = [
  {
    name: "associated-node",
    suits: (wanted, requestor) => {
      const own = requestor.extra?.[NODE_NAME_EXTRA];
      const node = parseNodeUser(wanted.name);
      const isServiceAccount = parseServiceAccountUser(requestor.name) !== undefined;
      return onlyNamed(wanted) && isServiceAccount && node !== undefined && own?.length === 1 && own[0] === node;
    },
  },
  { name: "arbitrary-node", suits: (wanted) => onlyNamed(wanted) && parseNodeUser(wanted.name) !== undefined },
  {
    name: "serviceaccount",
    suits: (wanted) => onlyNamed(wanted) && parseServiceAccountUser(wanted.name) !== undefined,
  },
  {
    name: "user-info",
    suits: ({ name }) => parseNodeUser(name) === undefined && parseServiceAccountUser(name) === undefined,
  },
  { name: "", suits: () => true },
];

/** Checks name, uid, groups and extra of the wanted user separately. */
function actAs(authorizer: Authorizer, mode: Mode, wanted: UserInfo, requestor: UserInfo): UserInfo {
  const isConstrained = mode.name !== "";
  const check = (
    group: string,
    resource: string,
    name: string,
    more: { namespace?: string; subresource?: string } = {},
  ) =>
    require(authorizer, {
      type: "resource",
      user: requestor,
      verb: isConstrained ? `impersonate:${mode.name}` : "impersonate",
      group,
      version: "v1",
      resource,
      subresource: more.subresource ?? "",
      namespace: more.namespace ?? "",
      name,
    });
  const namesGroup = isConstrained ? AUTHENTICATION : "";
  const account = parseServiceAccountUser(wanted.name);
  const node = isConstrained ? parseNodeUser(wanted.name) : undefined;
  if (account) check(namesGroup, "serviceaccounts", account.name, { namespace: account.namespace });
  else if (node !== undefined) check(namesGroup, "nodes", mode.name === "associated-node" ? "*" : node);
  else check(namesGroup, "users", wanted.name);
  if (wanted.uid) check(AUTHENTICATION, "uids", wanted.uid);
  for (const group of wanted.groups) {
    if (isConstrained && group === SYSTEM_MASTERS) throw mastersRefused(requestor, mode.name);
    check(namesGroup, "groups", group);
  }
  for (const [key, values] of Object.entries(wanted.extra ?? {})) {
    for (const value of values) check(AUTHENTICATION, "userextras", value, { subresource: key });
  }
  return { ...wanted, groups: withFixedGroups(wanted, node) };
}

function require(authorizer: Authorizer, attributes: AccessAttributes): void {
  const { allowed, reason } = authorizer.authorize(attributes);
  if (!allowed) throw accessDenied(attributes, reason);
}

function mastersRefused(user: UserInfo, mode: string): StatusError {
  const attributes = { type: "resource", user, group: AUTHENTICATION, version: "v1", resource: "groups" } as const;
  return accessDenied(
    { ...attributes, verb: `impersonate:${mode}`, subresource: "", namespace: "", name: SYSTEM_MASTERS },
    "impersonating the system:masters group is not allowed",
  );
}

function withFixedGroups(wanted: UserInfo, node: string | undefined): readonly string[] {
  const account = parseServiceAccountUser(wanted.name);
  const given = node === undefined ? wanted.groups : [NODES];
  const groups = account && given.length === 0 ? serviceAccountGroups(account.namespace) : given;
  if (wanted.name === ANONYMOUS) return ensured(groups, UNAUTHENTICATED);
  return groups.includes(UNAUTHENTICATED) ? groups : ensured(groups, AUTHENTICATED);
}

function ensured(groups: readonly string[], group: string): readonly string[] {
  return groups.includes(group) ? groups : [...groups, group];
}

function valuesOf(header: string | readonly string[] | undefined): readonly string[] {
  if (header === undefined) return [];
  return typeof header === "string" ? [header] : header;
}

/** Characters that a header name cannot hold are percent-encoded. */
function unescaped(key: string): string {
  try {
    return decodeURIComponent(key);
  } catch {
    return key;
  }
}

/** The user as Go's `%#v` formats it, for the real server's message. */
function goUser(uid: string, groups: readonly string[], extra: Readonly<Record<string, readonly string[]>>): string {
  const list = (values: readonly string[]): string =>
    values.length === 0 ? "[]string(nil)" : `[]string{${values.map(goQuote).join(", ")}}`;
  const entries = Object.entries(extra).map(([key, values]) => `${goQuote(key)}:${list(values)}`);
  const extras = entries.length === 0 ? "map[string][]string(nil)" : `map[string][]string{${entries.join(", ")}}`;
  return `&user.DefaultInfo{Name:"", UID:${goQuote(uid)}, Groups:${list(groups)}, Extra:${extras}}`;
}
