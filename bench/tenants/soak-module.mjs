import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

const folder = new URL("../../packages/cli/src/control-plane/testing/", import.meta.url);

/** A module of the control plane's soak of attacks. It is TypeScript, and imports only Node's own modules. */
export async function soakModule(name) {
  const bundle = await rolldown({ input: fileURLToPath(new URL(name, folder)), platform: "node" });
  const { output } = await bundle.generate({ format: "esm" });
  return import(`data:text/javascript;base64,${Buffer.from(output[0].code).toString("base64")}`);
}
