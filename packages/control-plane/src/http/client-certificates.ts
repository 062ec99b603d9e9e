import type { Http2ServerRequest } from "node:http2";
import type { TLSSocket } from "node:tls";
import type { ApiRequest } from "../api/api-request.js";
import { unauthorized } from "../api/status-error.js";
import type { Call } from "./caller-signals.js";

type Peer =
  | { readonly type: "none" | "untrusted" }
  | { readonly type: "trusted"; readonly certificate: NonNullable<ApiRequest["clientCertificate"]> };

/** The users of TLS client certificates. Each connection is checked once, because parsing a certificate is slow. */
export class ClientCertificates {
  /** By socket for HTTP/1.1, by session for HTTP/2. */
  readonly #peers = new WeakMap<object, Peer>();

  /**
   * Undefined without a client certificate. Throws 401 if the client CA did not sign it or it is not valid now, unless
   * the request has other credentials, as on the real server.
   */
  of(request: Http2ServerRequest | Call, hasOtherCredentials: boolean): ApiRequest["clientCertificate"] {
    const connection = ("stream" in request ? request.stream.session : request.socket)!;
    let peer = this.#peers.get(connection);
    if (!peer) this.#peers.set(connection, (peer = peerOf(request.socket as TLSSocket)));
    if (peer.type === "trusted") return peer.certificate;
    if (peer.type === "untrusted" && !hasOtherCredentials) throw unauthorized();
    return undefined;
  }
}

function peerOf(socket: TLSSocket): Peer {
  const { subject } = socket.getPeerCertificate();
  if (!subject) return { type: "none" };
  if (!socket.authorized) return { type: "untrusted" };
  const commonName = [subject.CN ?? ""].flat()[0] ?? "";
  return { type: "trusted", certificate: { commonName, organizations: [subject.O ?? []].flat() } };
}
