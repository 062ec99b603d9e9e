import { connect } from "node:tls";

/** The fingerprint of the certificate that the server on this port presents. */
export function shownCertificate(port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: "127.0.0.1", port, rejectUnauthorized: false }, () => {
      resolve(socket.getPeerCertificate().fingerprint256);
      socket.destroy();
    });
    socket.once("error", reject);
  });
}
