/**
 * Requests beyond create, read, update and delete. The app itself answers them, where its webhooks are, not the API server:
 *   SETPOINT_WEBHOOK_PORT=9443 node 09-custom-route.ts
 *   curl --insecure https://127.0.0.1:9443/apis/shop.example.com/v1/statistics
 * In a cluster, call the Service before the webhooks (its CA is in the Secret SERVICE-webhook-certificate) with a bearer token.
 */
import { app, type Client, connect, kindRoute, resource, run, versionRoute } from "setpoint";
import { z } from "zod";

export const Invoice = resource("shop.example.com/v1/Invoice", {
  spec: z.object({ lines: z.array(z.object({ item: z.string(), cents: z.int() })) }),
});

export const invoices = (client: Client) =>
  app({
    name: "invoices",
    kinds: [Invoice],
    routes: [
      // GET /apis/shop.example.com/v1/namespaces/NAMESPACE/invoices/NAME/total
      kindRoute(Invoice, {
        path: "total",
        async handle({ name, namespace, signal }) {
          // If the invoice is missing, the caller gets the API server's 404.
          const { spec } = await client.get(Invoice, name, { namespace, signal });
          return { json: { cents: spec.lines.reduce((sum, { cents }) => sum + cents, 0) } };
        },
      }),
      // GET /apis/shop.example.com/v1/statistics
      versionRoute("shop.example.com/v1", "Cluster", {
        path: "statistics",
        async handle({ signal }) {
          return { json: { invoices: (await client.list(Invoice, { signal })).items.length } };
        },
      }),
    ],
  });

if (process.argv[1] === import.meta.filename) {
  const client = await connect();
  await run(invoices(client), { client });
}
