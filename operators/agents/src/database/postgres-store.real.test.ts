import { systemClock } from "setpoint/clock";
import { afterAll, beforeAll, it } from "vitest";
import { openStore } from "./open-store.js";
import { startPostgres } from "./postgres.testing.js";
import { PostgresDatabase } from "./postgres-database.js";
import { storeContract } from "./store.contract.js";

const postgres = startPostgres();

if (!postgres) it.skip("the store on PostgreSQL: Debian's package postgresql is not installed", () => {});
else {
  beforeAll(() => postgres.ready());
  afterAll(() => postgres[Symbol.dispose]());
  storeContract(
    "PostgreSQL",
    () => openStore(postgres.url, systemClock),
    async () => {
      await using database = await PostgresDatabase.open(postgres.url);
      await database.write(
        ["agent", "toolserver", "tool"].map((table) => ({ sql: `DELETE FROM ${table}`, values: [] })),
      );
    },
  );
}
