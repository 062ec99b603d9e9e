import { createRequire } from "node:module";

const require = createRequire(import.meta.url);

/** The YAML library, loaded on first use: loading its sixty files takes a tenth of the start time. */
export function yaml(): typeof import("yaml") {
  return require("yaml") as typeof import("yaml");
}
