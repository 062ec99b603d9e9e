import { goQuote } from "../../api/go-format.js";

/** Formats a connection error like Go, as in the real server's messages. */
export function goCallError(reason: unknown): string {
  const error = reason as NodeJS.ErrnoException & {
    readonly address?: string;
    readonly port?: number;
    readonly hostname?: string;
  };
  switch (error?.code) {
    case "ECONNREFUSED":
      return `dial tcp ${error.address}:${error.port}: connect: connection refused`;
    case "ENOTFOUND":
      return `dial tcp: lookup ${error.hostname}: no such host`;
    case "ECONNRESET":
    case "EPIPE":
      return "EOF";
    case "ETIMEDOUT":
      return `dial tcp ${error.address}:${error.port}: i/o timeout`;
    case "DEPTH_ZERO_SELF_SIGNED_CERT":
    case "SELF_SIGNED_CERT_IN_CHAIN":
    case "UNABLE_TO_GET_ISSUER_CERT":
    case "UNABLE_TO_GET_ISSUER_CERT_LOCALLY":
    case "UNABLE_TO_VERIFY_LEAF_SIGNATURE":
      return "tls: failed to verify certificate: x509: certificate signed by unknown authority";
    case "CERT_HAS_EXPIRED":
    case "CERT_NOT_YET_VALID":
      return "tls: failed to verify certificate: x509: certificate has expired or is not yet valid";
    case "ERR_TLS_CERT_ALTNAME_INVALID":
      return `tls: failed to verify certificate: x509: ${error.message}`;
    default:
      return error?.message ?? String(reason);
  }
}

/** The message of an error response, as client-go reads it: from its Status, or else by its code. */
export function statusMessage(code: number, body: string, contentType: string): string {
  try {
    const status = JSON.parse(body) as { readonly kind?: string; readonly message?: string };
    if (status.kind === "Status" && status.message) return status.message;
  } catch {
    // Not a Status: the code decides.
  }
  const known = SENTENCES[code];
  if (known) return known;
  const isText = contentType === "" || contentType.startsWith("text/");
  if (code >= 500) {
    return `an error on the server (${goQuote(isText ? body.trim() : "unknown")}) has prevented the request from succeeding`;
  }
  return `the server responded with the status code ${code} but did not return more information`;
}

const SENTENCES: Readonly<Record<number, string>> = {
  400: "the server rejected our request for an unknown reason",
  401: "the server has asked for the client to provide credentials",
  404: "the server could not find the requested resource",
  405: "the server does not allow this method on the requested resource",
  415: "the body of the request was in an unknown format - accepted media types include: ",
  429: "the server has received too many requests and has asked us to try again later",
  503: "the server is currently unable to handle the request",
  504: "the server was unable to return a response in the time allotted, but may still be processing the request",
};
