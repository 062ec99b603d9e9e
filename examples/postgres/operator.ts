/** The whole operator as one app: kinds, admission and both controllers. */
import { app, RefusedError, validating } from "setpoint";
import { clusters } from "./clusters.ts";
import { databases, type Servers } from "./databases.ts";
import { PostgresCluster, PostgresDatabase } from "./kinds.ts";

export const operator = (servers: Servers) =>
  app({
    name: "postgres",
    kinds: [PostgresCluster, PostgresDatabase],
    validate: [
      validating(PostgresCluster, {
        update({ spec }, old) {
          if (spec.version >= old.spec.version) return;
          throw new RefusedError(422, "Invalid", `spec.version: ${old.spec.version} cannot go back to ${spec.version}`);
        },
      }),
    ],
    loops: [clusters, databases(servers)],
  });
