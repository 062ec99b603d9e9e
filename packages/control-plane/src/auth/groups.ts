/** Users and groups that the server itself assigns. */
export const ANONYMOUS = "system:anonymous";
export const AUTHENTICATED = "system:authenticated";
export const UNAUTHENTICATED = "system:unauthenticated";
export const NODES = "system:nodes";
const SERVICE_ACCOUNT_PREFIX = "system:serviceaccount:";
const NODE_PREFIX = "system:node:";

export interface ServiceAccountName {
  readonly namespace: string;
  readonly name: string;
}

export function serviceAccountUser({ namespace, name }: ServiceAccountName): string {
  return `${SERVICE_ACCOUNT_PREFIX}${namespace}:${name}`;
}

/** Undefined if the user is not a service account. */
export function parseServiceAccountUser(user: string): ServiceAccountName | undefined {
  if (!user.startsWith(SERVICE_ACCOUNT_PREFIX)) return undefined;
  const parts = user.slice(SERVICE_ACCOUNT_PREFIX.length).split(":");
  const [namespace, name] = parts;
  return parts.length === 2 && namespace && name ? { namespace, name } : undefined;
}

export function serviceAccountGroups(namespace: string): readonly string[] {
  return ["system:serviceaccounts", `system:serviceaccounts:${namespace}`];
}

/** The node name of a node's user; undefined for other users. */
export function parseNodeUser(user: string): string | undefined {
  const name = user.startsWith(NODE_PREFIX) ? user.slice(NODE_PREFIX.length) : "";
  return name === "" ? undefined : name;
}
