/** The user of a request. */
export interface UserInfo {
  readonly name: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** The access that a request needs, as RBAC and access reviews check it. */
export type AccessAttributes =
  | {
      readonly type: "resource";
      readonly user: UserInfo;
      readonly verb: string;
      readonly group: string;
      readonly version: string;
      readonly resource: string;
      readonly subresource: string;
      readonly namespace: string;
      readonly name: string;
    }
  | { readonly type: "path"; readonly user: UserInfo; readonly verb: string; readonly path: string };

export interface AccessDecision {
  readonly allowed: boolean;
  readonly reason: string;
}

export interface Authorizer {
  authorize(attributes: AccessAttributes): AccessDecision;
}
