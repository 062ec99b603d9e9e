import type { ApiRequest, ApiResponse } from "../api/api-request.js";
import { methodNotAllowed, unknownResource } from "../api/status-error.js";
import { jsonWebKeySet, type SigningKey } from "./jwt.js";

export interface AuthPathOptions {
  readonly issuer: string;
  readonly keys: readonly SigningKey[];
  /** The URL of this server, such as `https://127.0.0.1:6443`. Undefined while it does not listen. */
  readonly url?: () => string | undefined;
}

/** The OpenID documents with which others verify this server's tokens. */
export function authPaths(options: AuthPathOptions): ReadonlyMap<string, (request: ApiRequest) => ApiResponse> {
  const published = (value: object, type: string): ApiResponse => ({
    status: 200,
    headers: { "cache-control": "public, max-age=3600", "content-type": type },
    body: Buffer.from(JSON.stringify(value)),
  });
  type PathHandler = (request: ApiRequest) => ApiResponse;
  const readable = (path: string, handler: PathHandler): [string, PathHandler] => [
    path,
    (request) => {
      if (request.path.replace(/\/$/, "") !== path) throw unknownResource();
      if (request.method !== "GET" && request.method !== "HEAD") throw methodNotAllowed();
      return handler(request);
    },
  ];
  return new Map([
    readable("/openid/v1/jwks", () => published(jsonWebKeySet(options.keys), "application/jwk-set+json")),
    readable("/.well-known/openid-configuration", () => {
      // Never use the Host header: the response may be cached, and a caller must not control what others get.
      const url = options.url?.() ?? new URL(options.issuer).origin;
      return published(
        {
          issuer: options.issuer,
          jwks_uri: `${url}/openid/v1/jwks`,
          response_types_supported: ["id_token"],
          subject_types_supported: ["public"],
          id_token_signing_alg_values_supported: [...new Set(options.keys.map(({ algorithm }) => algorithm))],
        },
        "application/json",
      );
    }),
  ]);
}
