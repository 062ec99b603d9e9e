import { createClient } from "../client/api-client.js";
import type { Transport } from "../client/transport.js";
import { integrationSuite } from "./integration.suite.js";

interface EmbeddedControlPlane extends AsyncDisposable {
  readonly transport: Transport;
}

integrationSuite("the embedded control plane", async () => {
  const { controlPlane } = (await import("@setpoint/control-plane" as string)) as {
    controlPlane: (options: object) => Promise<EmbeddedControlPlane>;
  };
  const plane = await controlPlane({});
  return {
    connect: async () => {
      const { transport } = plane;
      const shared: Transport = {
        request: (request) => transport.request(request),
        [Symbol.asyncDispose]: async () => {},
      };
      return createClient({ transport: shared, server: "in-process" });
    },
    [Symbol.asyncDispose]: () => plane[Symbol.asyncDispose](),
  };
});
