// npm run soak [-- FILTER]: the long random tests. SOAK_EVENTS is the number of events of each (a million by default;
// CI runs a tenth), SOAK_SEED repeats one run.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const config = fileURLToPath(new URL("soak.config.ts", import.meta.url));
const vitest = fileURLToPath(new URL("../node_modules/vitest/vitest.mjs", import.meta.url));
const args = [vitest, "run", "--config", config, ...process.argv.slice(2)];
process.exit(spawnSync(process.execPath, args, { stdio: "inherit" }).status ?? 1);
