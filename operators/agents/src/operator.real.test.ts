import { controlPlane } from "@setpoint/control-plane";
import { type Client, connect } from "setpoint";
import { systemClock } from "setpoint/clock";
import { afterAll, beforeAll, it } from "vitest";
import { startKubernetes } from "../../../tools/kubernetes/start.mjs";
import { agentsSuite } from "./agents.suite.js";
import { openStore } from "./database/open-store.js";
import { startPostgres } from "./database/postgres.testing.js";
import { PostgresDatabase } from "./database/postgres-database.js";
import { type Place, RealEnvironment } from "./place.testing.js";
import { toolServersSuite } from "./tool-servers.suite.js";

/** The suites of `operator.test.ts` in real time: on both API servers, each with both databases. */

const postgres = startPostgres();
if (!postgres) it.skip("the suites on PostgreSQL: Debian's package postgresql is not installed", () => {});

const ends: (() => unknown)[] = [];
const clients: { embedded?: Client; real?: Client } = {};

beforeAll(async () => {
  await postgres?.ready();
  ends.push(() => postgres?.[Symbol.dispose]());
  const plane = await controlPlane({});
  ends.push(() => plane[Symbol.asyncDispose]());
  const cluster = await startKubernetes({});
  ends.push(() => cluster[Symbol.asyncDispose]());
  const client = await connect({ kubeconfig: cluster.kubeconfig });
  ends.push(() => client[Symbol.asyncDispose]());
  Object.assign(clients, { embedded: plane.client, real: client });
}, 600_000);
afterAll(async () => {
  for (const end of ends.reverse()) await end();
});

const servers = [
  ["the embedded API server", () => clients.embedded!],
  ["a real API server", () => clients.real!],
] as const;
const databases = [
  ["SQLite", async () => ":memory:"],
  ...(postgres ? [["PostgreSQL", emptyPostgres] as const] : []),
] as const;

async function emptyPostgres(): Promise<string> {
  await using database = await PostgresDatabase.open(postgres!.url);
  const tables = ["agent", "toolserver", "tool"];
  await database.write(tables.map((table) => ({ sql: `DELETE FROM ${table}`, values: [] })));
  return postgres!.url;
}

for (const [server, client] of servers) {
  for (const [database, url] of databases) {
    const place: Place = {
      name: `${server} and ${database}`,
      isVirtual: false,
      environment: () => RealEnvironment.create(client()),
      store: async () => openStore(await url(), systemClock),
    };
    agentsSuite(place);
    toolServersSuite(place);
  }
}
