import type { UserInfo } from "../api/user.js";

/** The result of authenticating a bearer token. */
export type TokenAnswer =
  | { readonly type: "user"; readonly user: UserInfo; readonly audiences: readonly string[] }
  /** Not one of mine. */
  | { readonly type: "unknown" }
  /** One of mine, and no longer valid, or not for these audiences. */
  | { readonly type: "refused"; readonly why: string };

export interface TokenAuthenticator {
  /** `audiences`: the token must be valid for at least one of them. */
  authenticate(token: string, audiences: readonly string[]): TokenAnswer;
}

/** Asks each in turn; the first that knows the user wins, else the first refusal. */
export function anyOf(authenticators: readonly TokenAuthenticator[]): TokenAuthenticator {
  return {
    authenticate(token, audiences) {
      let answer: TokenAnswer = { type: "unknown" };
      for (const authenticator of authenticators) {
        const next = authenticator.authenticate(token, audiences);
        if (next.type === "user") return next;
        if (answer.type === "unknown") answer = next;
      }
      return answer;
    },
  };
}

/** Tokens that are known beforehand, as in `--token-auth-file`. Good for the server's own audiences. */
export function staticTokens(
  tokens: ReadonlyMap<string, UserInfo>,
  ownAudiences: readonly string[],
): TokenAuthenticator {
  return {
    authenticate(token, audiences) {
      const user = tokens.get(token);
      const common = ownAudiences.filter((audience) => audiences.includes(audience));
      return user && common.length > 0 ? { type: "user", user, audiences: common } : { type: "unknown" };
    },
  };
}
