import { controlPlane } from "@setpoint/control-plane";
import { type Client, connect } from "setpoint";
import { systemClock } from "setpoint/clock";
import { afterAll, beforeAll, it } from "vitest";
import { startKubernetes } from "../../../tools/kubernetes/start.mjs";
import { agentsSuite } from "./agents.suite.js";
import { openStore } from "./database/open-store.js";
import { startPostgres } from "./database/postgres.testing.js";
import { PostgresDatabase } from "./database/postgres-database.js";
import { modelsSuite } from "./model-providers.suite.js";
import { networkSuite } from "./network.suite.js";
import { type Place, RealEnvironment } from "./place.testing.js";
import { restApiSuite } from "./rest-api.suite.js";
import { toolServersSuite } from "./tool-servers.suite.js";

/**
 * `operator.test.ts` runs these suites on the embedded API server and SQLite. Here they run with a real API server or
 * PostgreSQL in place of one of these; the suites of models and of real MCP servers run with both.
 */

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

const embedded = ["the embedded API server", () => clients.embedded!] as const;
const real = ["a real API server", () => clients.real!] as const;
const sqlite = ["SQLite", async () => ":memory:"] as const;
const shared = ["PostgreSQL", emptyPostgres] as const;

async function emptyPostgres(): Promise<string> {
  await using database = await PostgresDatabase.open(postgres!.url);
  const tables = ["agent", "toolserver", "tool"];
  await database.write(tables.map((table) => ({ sql: `DELETE FROM ${table}`, values: [] })));
  return postgres!.url;
}

const placeOf = (
  [server, client]: readonly [string, () => Client],
  [database, url]: readonly [string, () => Promise<string>],
): Place => ({
  name: `${server} and ${database}`,
  isVirtual: false,
  environment: () => RealEnvironment.create(client()),
  store: async () => openStore(await url(), systemClock),
});

const all = [agentsSuite, modelsSuite, toolServersSuite];
for (const suite of all) suite(placeOf(real, sqlite));
if (postgres) {
  for (const suite of all) suite(placeOf(embedded, shared));
  for (const suite of [modelsSuite, networkSuite]) suite(placeOf(real, shared));
}
restApiSuite("a real API server", () => clients.real!);
