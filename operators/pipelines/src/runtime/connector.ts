import { createHash } from "node:crypto";
import { type GraphKind, graphKind } from "setpoint/graph";
import type { ConnectorSpec } from "../project/connector-file.js";
import type { ProjectSettings } from "../project/project.js";

/** Drivers that models can read from or write to. */
const DRIVERS = ["duckdb", "local_file", "https", "http", "postgres"];

/**
 * The kind `Connector`. Its output version changes with its spec and with the values of its variables. The models that
 * use it then run again.
 */
export function connectorKind(settings: () => ProjectSettings): GraphKind<ConnectorSpec> {
  return graphKind<ConnectorSpec>({
    name: "Connector",
    reconcile({ spec }) {
      const { variables } = settings();
      const values = spec.variables.map((name) => [name, variables[name]]);
      const outputVersion = createHash("sha256")
        .update(JSON.stringify([spec, values]))
        .digest("hex")
        .slice(0, 16);
      if (DRIVERS.includes(spec.driver)) return { outputVersion };
      return { outputVersion, warnings: [`models cannot use the driver ${spec.driver} yet`] };
    },
  });
}
