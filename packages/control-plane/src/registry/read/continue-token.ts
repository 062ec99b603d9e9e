import { badRequest } from "../../api/status-error.js";
import { goSyntaxError } from "../../schema/json-syntax.js";

/** Where a paged list continues: the first key not yet returned, and the revision of all pages. */
export interface ContinueToken {
  /** -1 means the newest revision, which is not consistent with the earlier pages. */
  readonly revision: number;
  readonly start: string;
}

const VERSION = "meta.k8s.io/v1";

/** The real server's format: base64url of `{"v":"meta.k8s.io/v1","rv":317,"start":"/name\u0000"}`. */
export function encodeContinue({ revision, start }: ContinueToken): string {
  return Buffer.from(JSON.stringify({ v: VERSION, rv: revision, start: `/${start}` })).toString("base64url");
}

export function decodeContinue(text: string): ContinueToken {
  if (!/^[A-Za-z0-9_-]*$/.test(text)) {
    const at = text.search(/[^A-Za-z0-9_-]/);
    throw invalidToken(`illegal base64 data at input byte ${at}`);
  }
  if (text.length % 4 === 1) throw invalidToken(`illegal base64 data at input byte ${text.length - 1}`);
  const bytes = Buffer.from(text, "base64url");
  let value: { readonly v?: unknown; readonly rv?: unknown; readonly start?: unknown };
  try {
    value = JSON.parse(bytes.toString());
  } catch {
    // Go's parser counts bytes, not characters.
    throw invalidToken(goSyntaxError(bytes.toString("latin1")));
  }
  const { v, rv, start } = value;
  if (v !== VERSION) {
    throw invalidToken(`server does not recognize this encoded version ${typeof v === "string" ? v : ""}`);
  }
  if (typeof rv !== "number" || rv === 0) {
    throw invalidToken("incorrect encoded start resourceVersion (version meta.k8s.io/v1)");
  }
  if (typeof start !== "string" || start === "") {
    throw invalidToken("encoded start key empty (version meta.k8s.io/v1)");
  }
  // Reject a key that leaves its prefix: it could read another resource.
  const key = start.startsWith("/") ? start.slice(1) : start;
  if (key.split("/").some((segment) => segment === "." || segment === "..")) throw invalidToken(start);
  return { revision: rv, start: key };
}

function invalidToken(why: string): Error {
  return badRequest(`invalid continue token: continue key is not valid: ${why}`);
}
