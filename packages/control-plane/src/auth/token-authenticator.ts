import type { UserInfo } from "../api/user.js";

/** The result of authenticating a bearer token. */
export type TokenAnswer =
  | { readonly type: "user"; readonly user: UserInfo; readonly audiences: readonly string[] }
  /** This authenticator did not issue the token. */
  | { readonly type: "unknown" }
  /** The token is known, but no longer valid or not for these audiences. */
  | { readonly type: "refused"; readonly why: string };

export interface TokenAuthenticator {
  /** The token must be valid for at least one of the `audiences`. */
  authenticate(token: string, audiences: readonly string[]): TokenAnswer;
}

/** Tries each authenticator. The first that returns a user wins, otherwise the first refusal. */
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

/** Predefined tokens, as in `--token-auth-file`. They are valid for the server's own audiences. */
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
