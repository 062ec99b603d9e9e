import { createRequire } from "node:module";

const require = createRequire(import.meta.url);

/** The YAML library, loaded by whoever first needs it: its sixty files are a tenth of the time to start. */
export function yaml(): typeof import("yaml") {
  return require("yaml") as typeof import("yaml");
}
