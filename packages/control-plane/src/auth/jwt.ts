import { createHash, createPublicKey, type KeyObject, sign, verify } from "node:crypto";

/** A key pair: the private key signs tokens, the public key verifies them. */
export interface SigningKey {
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
  readonly algorithm: "ES256" | "RS256";
  /** The ID of the key: the hash of its public half, as the real server computes it. */
  readonly keyId: string;
}

export function signingKey(privateKey: KeyObject): SigningKey {
  const publicKey = createPublicKey(privateKey);
  const hash = createHash("sha256").update(publicKey.export({ type: "spki", format: "der" }));
  const algorithm = privateKey.asymmetricKeyType === "rsa" ? "RS256" : "ES256";
  return { privateKey, publicKey, algorithm, keyId: hash.digest("base64url") };
}

export function signToken(key: SigningKey, claims: object): string {
  const header = encoded({ alg: key.algorithm, kid: key.keyId });
  const content = `${header}.${encoded(claims)}`;
  const signature = sign("sha256", Buffer.from(content), { key: key.privateKey, dsaEncoding: "ieee-p1363" });
  return `${content}.${signature.toString("base64url")}`;
}

/** The claims of a token signed by one of the keys; undefined for anything else. Does not check expiry or audience. */
export function verifiedClaims(
  keys: readonly SigningKey[],
  token: string,
): Readonly<Record<string, unknown>> | undefined {
  const parts = token.split(".");
  const [header, payload, signature] = parts;
  if (parts.length !== 3 || !header || !payload || !signature) return undefined;
  const { alg, kid } = decoded(header) ?? {};
  const key = keys.find((candidate) => candidate.keyId === kid) ?? (kid === undefined ? keys[0] : undefined);
  // The key determines the algorithm, never the token.
  if (!key || alg !== key.algorithm) return undefined;
  const content = Buffer.from(`${header}.${payload}`);
  const options = { key: key.publicKey, dsaEncoding: "ieee-p1363" } as const;
  const isGenuine = verify("sha256", content, options, Buffer.from(signature, "base64url"));
  return isGenuine ? decoded(payload) : undefined;
}

/** The keys as served at `/openid/v1/jwks`. */
export function jsonWebKeySet(keys: readonly SigningKey[]): object {
  return {
    keys: keys.map(({ publicKey, keyId, algorithm }) => {
      const { kty, ...rest } = publicKey.export({ format: "jwk" });
      return { use: "sig", kty, kid: keyId, alg: algorithm, ...rest };
    }),
  };
}

function encoded(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}

function decoded(part: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, "base64url").toString("utf8"));
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}
