import type { KubeObject } from "setpoint";
import type { Clock, Random } from "setpoint/clock";
import type { UserInfo } from "../api/user.js";
import { newUid } from "../registry/write/identity.js";
import type { Storage } from "../storage/storage.js";
import { serviceAccountGroups, serviceAccountUser } from "./groups.js";
import { type SigningKey, signToken, verifiedClaims } from "./jwt.js";
import { quotedList } from "./rbac/policy-rule.js";
import type { TokenAnswer, TokenAuthenticator } from "./token-authenticator.js";

/** The claims of a token, as the real server writes them. */
interface Claims {
  readonly aud: readonly string[];
  readonly exp: number;
  readonly iat: number;
  readonly iss: string;
  readonly jti: string;
  readonly nbf: number;
  readonly sub: string;
  readonly "kubernetes.io": BoundClaims & { readonly namespace: string; readonly serviceaccount: Reference };
}

interface Reference {
  readonly name: string;
  readonly uid?: string;
}

/** The objects that a token is bound to. It is valid only while they exist. */
export interface BoundClaims {
  readonly pod?: Reference;
  readonly node?: Reference;
  readonly secret?: Reference;
}

export interface TokenOptions {
  readonly storage: Storage;
  readonly clock: Clock;
  readonly random: Random;
  readonly issuer: string;
  /** The first key signs; all keys verify. */
  readonly keys: readonly SigningKey[];
}

/** Allowed clock skew. */
const LEEWAY_MS = 60_000;
/** Cache of verified signatures; validity is checked each time. */
const REMEMBERED_TOKENS = 1000;
const EXTRA = "authentication.kubernetes.io";

/** Issues and authenticates service account tokens. They are valid while the account and their bound objects exist. */
export class ServiceAccountTokens implements TokenAuthenticator {
  readonly #options: TokenOptions;
  readonly #verified = new Map<string, Claims | undefined>();

  constructor(options: TokenOptions) {
    this.#options = options;
  }

  issue(account: KubeObject, audiences: readonly string[], durationSeconds: number, bound: BoundClaims): string {
    const { clock, random, issuer, keys } = this.#options;
    const { namespace = "", name, uid } = account.metadata;
    const now = Math.floor(clock.now() / 1000);
    const claims: Claims = {
      aud: audiences,
      exp: now + durationSeconds,
      iat: now,
      iss: issuer,
      jti: newUid(random),
      "kubernetes.io": {
        namespace,
        ...(bound.node && { node: bound.node }),
        ...(bound.pod && { pod: bound.pod }),
        ...(bound.secret && { secret: bound.secret }),
        serviceaccount: { name, uid },
      },
      nbf: now,
      sub: serviceAccountUser({ namespace, name }),
    };
    return signToken(keys[0]!, claims);
  }

  authenticate(token: string, audiences: readonly string[]): TokenAnswer {
    const claims = this.#claimsOf(token);
    if (!claims || claims.iss !== this.#options.issuer) return { type: "unknown" };
    const common = claims.aud.filter((audience) => audiences.includes(audience));
    if (common.length === 0) {
      const given = quotedList(claims.aud);
      const why = `token audiences ${given} is invalid for the target audiences ${quotedList(audiences)}`;
      return { type: "refused", why };
    }
    const why = this.#whyInvalid(claims);
    return why === undefined ? { type: "user", user: userOf(claims), audiences: common } : { type: "refused", why };
  }

  #claimsOf(token: string): Claims | undefined {
    if (this.#verified.has(token)) return this.#verified.get(token);
    const claims = verifiedClaims(this.#options.keys, token) as Claims | undefined;
    if (this.#verified.size >= REMEMBERED_TOKENS) this.#verified.delete(this.#verified.keys().next().value!);
    // Cache only tokens that this server signed, so that callers cannot fill the cache.
    if (claims) this.#verified.set(token, claims);
    return claims;
  }

  #whyInvalid(claims: Claims): string | undefined {
    const nowMs = this.#options.clock.now();
    if (nowMs - LEEWAY_MS > claims.exp * 1000) return "service account token has expired";
    if (nowMs + LEEWAY_MS < claims.nbf * 1000) return "service account token is not valid yet";
    const { namespace, serviceaccount, secret, pod, node } = claims["kubernetes.io"];
    const account = this.#options.storage.get("/serviceaccounts", `${namespace}/${serviceaccount.name}`)?.object;
    if (!account) return `serviceaccounts "${serviceaccount.name}" not found`;
    const { uid } = account.metadata;
    if (uid !== serviceaccount.uid) return `service account UID (${uid}) does not match claim (${serviceaccount.uid})`;
    if (this.#isLongDeleted(account)) {
      return `service account ${namespace}/${serviceaccount.name} has been deleted`;
    }
    return (
      this.#whyUnbound("secret", "/secrets", secret, `${namespace}/`) ??
      this.#whyUnbound("pod", "/pods", pod, `${namespace}/`) ??
      // With a pod, the node is informational and does not bind the token.
      (pod ? undefined : this.#whyUnbound("node", "/nodes", node, ""))
    );
  }

  #whyUnbound(word: string, resource: string, bound: Reference | undefined, prefix: string): string | undefined {
    if (!bound) return undefined;
    const object = this.#options.storage.get(resource, `${prefix}${bound.name}`)?.object;
    if (!object || this.#isLongDeleted(object)) return "service account token has been invalidated";
    const { uid } = object.metadata;
    if (uid === bound.uid) return undefined;
    return `${word} UID (${uid}) does not match service account ${word} ref claim (${bound.uid})`;
  }

  #isLongDeleted({ metadata }: KubeObject): boolean {
    const at = metadata.deletionTimestamp;
    return at !== undefined && Date.parse(at) < this.#options.clock.now() - LEEWAY_MS;
  }
}

function userOf(claims: Claims): UserInfo {
  const { namespace, serviceaccount, pod, node } = claims["kubernetes.io"];
  return {
    name: serviceAccountUser({ namespace, name: serviceaccount.name }),
    ...(serviceaccount.uid && { uid: serviceaccount.uid }),
    groups: serviceAccountGroups(namespace),
    extra: {
      [`${EXTRA}/credential-id`]: [`JTI=${claims.jti}`],
      ...(node && { [`${EXTRA}/node-name`]: [node.name], ...(node.uid && { [`${EXTRA}/node-uid`]: [node.uid] }) }),
      ...(pod && { [`${EXTRA}/pod-name`]: [pod.name], ...(pod.uid && { [`${EXTRA}/pod-uid`]: [pod.uid] }) }),
    },
  };
}
