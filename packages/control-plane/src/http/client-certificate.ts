import type { TLSSocket } from "node:tls";
import { StatusError } from "../registry/status-error.js";
import type { ApiRequest } from "./api-request.js";

/**
 * Who the TLS handshake says is calling; undefined without a client certificate. Throws 401 for a certificate that
 * the client CA has not signed, or that is not valid now, as the real server answers.
 */
export function clientCertificate(socket: TLSSocket): ApiRequest["clientCertificate"] {
  const { subject } = socket.getPeerCertificate();
  if (!subject) return undefined;
  if (!socket.authorized) throw new StatusError(401, "Unauthorized", "Unauthorized");
  return { commonName: [subject.CN ?? ""].flat()[0] ?? "", organizations: [subject.O ?? []].flat() };
}
