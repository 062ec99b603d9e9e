import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import { StatusError } from "../api/status-error.js";

/** The real server's limit of a body, before and after decompression. */
export const BODY_LIMIT_BYTES = 3 * 2 ** 20;

const unpack = promisify(gunzip);

export function bodyTooLarge(): StatusError {
  const message = `Request entity too large: limit is ${BODY_LIMIT_BYTES}`;
  return new StatusError(413, "RequestEntityTooLarge", message);
}

/** Decompresses the body. Throws a `StatusError` if it is too large or does not match its headers. */
export async function decodedBody(body: Uint8Array, encoding: string | undefined): Promise<Uint8Array> {
  if (body.byteLength > BODY_LIMIT_BYTES) throw bodyTooLarge();
  if (encoding === undefined || encoding === "" || encoding === "identity") return body;
  if (encoding !== "gzip") {
    throw new StatusError(415, "UnsupportedMediaType", `the body's content encoding must be gzip, not ${encoding}`);
  }
  try {
    return await unpack(body, { maxOutputLength: BODY_LIMIT_BYTES });
  } catch (error) {
    if (error instanceof RangeError) throw bodyTooLarge();
    throw new StatusError(400, "BadRequest", `the body is not gzip, as its content-encoding says: ${String(error)}`);
  }
}
