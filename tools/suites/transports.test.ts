// Runs the transport contract against the embedded control plane: its in-process transport, and its server behind the
// client's HTTP/1.1 and HTTP/2 transports.
import { systemClock } from "setpoint/clock";
import type { ApiHandler } from "../../packages/control-plane/src/api/api-request.js";
import { ApiServer } from "../../packages/control-plane/src/http/api-server.js";
import { inProcessTransport } from "../../packages/control-plane/src/http/in-process-transport.js";
import { makeCertificate } from "../../packages/setpoint/src/client/testing/certificate.js";
import type { Handler } from "../../packages/setpoint/src/client/testing/http-server.js";
import { http1Transport } from "../../packages/setpoint/src/client/transport/http1-transport.js";
import { http2Transport } from "../../packages/setpoint/src/client/transport/http2-transport.js";
import { transportContract } from "../../packages/setpoint/src/client/transport/transport.contract.js";
import type { TransportRequest } from "../../packages/setpoint/src/client/transport/transport.js";

/** API servers refuse larger bodies. */
const MAX_BODY_BYTES = 3 * 2 ** 20;

const asApi =
  (handler: Handler): ApiHandler =>
  ({ method, path, query, headers, body, signal }) =>
    handler({
      method: method as TransportRequest["method"],
      path: query.size > 0 ? `${path}?${query}` : path,
      headers: headers as TransportRequest["headers"],
      body,
      signal,
    });

async function serve(handler: Handler, open: typeof http1Transport) {
  const { cert, key } = makeCertificate({ commonName: "setpoint test", hosts: ["127.0.0.1"] });
  const server = await ApiServer.listen({
    handler: asApi(handler),
    host: "127.0.0.1",
    port: 0,
    certificate: cert,
    privateKey: key,
    clientCa: cert,
    clock: systemClock,
    log: () => {},
  });
  const transport = open({ server: server.url, clock: systemClock, tls: { ca: cert } });
  return {
    transport,
    async [Symbol.asyncDispose]() {
      await transport[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

const limits = { maxBodyBytes: MAX_BODY_BYTES };

transportContract(
  "the control plane in-process",
  async (handler) => {
    const transport = inProcessTransport(asApi(handler));
    return { transport, [Symbol.asyncDispose]: () => transport[Symbol.asyncDispose]() };
  },
  limits,
);
transportContract("the control plane over HTTP/1.1", (handler) => serve(handler, http1Transport), limits);
transportContract("the control plane over HTTP/2", (handler) => serve(handler, http2Transport), limits);
