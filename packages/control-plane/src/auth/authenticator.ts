import type { RequestHead } from "../api/api-request.js";
import { unauthorized } from "../api/status-error.js";
import type { UserInfo } from "../api/user.js";
import { protocolToken } from "../websocket/handshake.js";
import { ANONYMOUS, AUTHENTICATED, UNAUTHENTICATED } from "./groups.js";
import { SYSTEM_MASTERS } from "./rbac/rbac-authorizer.js";
import type { TokenAuthenticator } from "./token-authenticator.js";

/** The user of the in-process transport and of the kubeconfig that the server writes. */
export const ADMIN: UserInfo = { name: "admin", groups: [SYSTEM_MASTERS, AUTHENTICATED] };

const NOBODY: UserInfo = { name: ANONYMOUS, groups: [UNAUTHENTICATED] };

export interface AuthenticatorOptions {
  readonly tokens: TokenAuthenticator;
  /** The accepted audiences of a bearer token. */
  readonly audiences: readonly string[];
}

/** Authenticates requests. */
export class RequestAuthenticator {
  readonly #options: AuthenticatorOptions;
  /** By client certificate. A connection has one. */
  readonly #users = new WeakMap<object, UserInfo>();

  constructor(options: AuthenticatorOptions) {
    this.#options = options;
  }

  /**
   * Authenticates by client certificate (common name and organizations), then by bearer token in a header or a
   * WebSocket subprotocol. Without credentials the in-process caller is the administrator and all others are anonymous.
   * Throws 401 for an invalid token.
   */
  authenticate(request: RequestHead): UserInfo {
    const { clientCertificate, isInProcess } = request;
    if (clientCertificate?.commonName) {
      const known = this.#users.get(clientCertificate);
      if (known !== undefined) return known;
      const { commonName, organizations } = clientCertificate;
      const user = authenticated({ name: commonName, groups: organizations });
      this.#users.set(clientCertificate, user);
      return user;
    }
    const token = bearerToken(request.headers.authorization) ?? protocolToken(request);
    if (token === undefined) return isInProcess ? ADMIN : NOBODY;
    if (token === null) throw unauthorized();
    const answer = this.#options.tokens.authenticate(token, this.#options.audiences);
    if (answer.type !== "user") throw unauthorized();
    return authenticated(answer.user);
  }
}

export function authenticated(user: UserInfo): UserInfo {
  return user.groups.includes(AUTHENTICATED) ? user : { ...user, groups: [...user.groups, AUTHENTICATED] };
}

/** Undefined if the token is absent or empty, or the scheme is not Bearer. */
function bearerToken(header: string | readonly string[] | undefined): string | undefined {
  const value = typeof header === "string" ? header : header?.[0];
  const [scheme = "", token = ""] = (value ?? "").trim().split(" ");
  return scheme.toLowerCase() === "bearer" && token !== "" ? token : undefined;
}
