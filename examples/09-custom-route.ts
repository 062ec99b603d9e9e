/** Requests beyond create, read, update and delete: below each object of a kind, or below a version of the group. */
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
          // An invoice that is not there is the API server's 404, passed on as it is.
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
  await using client = await connect();
  await run(invoices(client), { client });
}
