import { systemClock } from "../clock/system-clock.js";
import { http2Transport } from "./http2-transport.js";
import { serve } from "./testing/http-server.js";
import { transportContract } from "./transport.contract.js";

for (const protocol of ["h2c", "h2"] as const) {
  transportContract(`HTTP/2 over ${protocol === "h2c" ? "TCP" : "TLS"}`, async (handler) => {
    const server = await serve(handler, { protocol });
    const transport = http2Transport({ server: server.url, clock: systemClock, tls: { ca: server.ca } });
    return {
      transport,
      async [Symbol.asyncDispose]() {
        await transport[Symbol.asyncDispose]();
        await server[Symbol.asyncDispose]();
      },
    };
  });
}
