import type { Client } from "../../client/client.js";
import { TokenReview } from "../../kinds/builtin/authentication.k8s.io/v1.js";
import { SubjectAccessReview } from "../../kinds/builtin/authorization.k8s.io/v1.js";

type AccessSpec = SubjectAccessReview["spec"];

/** The user of a bearer token, as the API server reports it. */
export interface Caller {
  readonly name: string;
  /** Whether the cluster's RBAC allows it. Nothing is cached, so a revoked right takes effect at once. */
  may(what: Pick<AccessSpec, "resourceAttributes" | "nonResourceAttributes">): Promise<boolean>;
}

export interface CallerOptions {
  readonly signal?: AbortSignal | undefined;
  /** The accepted audiences of the token; without any, that of the API server. */
  readonly audiences?: readonly string[];
}

/** The user of the token in an `authorization` header, or the reason why there is none. */
export async function callerOf(
  client: Client,
  authorization: string | readonly string[] | undefined,
  { signal, audiences = [] }: CallerOptions = {},
): Promise<Caller | string> {
  const token = /^Bearer (.+)$/i.exec(String(authorization ?? ""))?.[1];
  if (token === undefined) return "a bearer token is required";
  const options = signal ? { signal } : {};
  const asked = { token, ...(audiences.length > 0 ? { audiences } : {}) };
  const { status } = await client.create(TokenReview, { metadata: {}, spec: asked }, options);
  // An authenticator that does not know audiences returns none, and has checked none.
  const isMeant = audiences.length === 0 || status?.audiences?.some((audience) => audiences.includes(audience));
  if (!status?.authenticated || !isMeant) return "the token is not valid here";
  const { username = "", groups = [], uid = "", extra } = status.user ?? {};
  return {
    name: username,
    async may(what) {
      const spec = { user: username, groups, uid, ...(extra ? { extra } : {}), ...what };
      const review = await client.create(SubjectAccessReview, { metadata: {}, spec }, options);
      return review.status?.allowed === true;
    },
  };
}
