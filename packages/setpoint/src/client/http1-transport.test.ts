import { systemClock } from "../clock/system-clock.js";
import { http1Transport } from "./http1-transport.js";
import { serve } from "./testing/http-server.js";
import { transportContract } from "./transport.contract.js";

for (const protocol of ["http", "https"] as const) {
  transportContract(`HTTP/1.1 over ${protocol === "http" ? "TCP" : "TLS"}`, async (handler) => {
    const server = await serve(handler, { protocol });
    const transport = http1Transport({ server: server.url, clock: systemClock, tls: { ca: server.ca } });
    return {
      transport,
      async [Symbol.asyncDispose]() {
        await transport[Symbol.asyncDispose]();
        await server[Symbol.asyncDispose]();
      },
    };
  });
}
