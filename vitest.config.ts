import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { SkippedReporter } from "./tools/vitest/skipped-reporter.js";

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** Tests run on the sources, so that they never see a stale build; child processes that tests start run the build. */
export default defineConfig({
  resolve: {
    alias: [
      { find: /^fast-check$/, replacement: at("tools/vitest/fast-check.ts") },
      { find: /^setpoint$/, replacement: at("packages/setpoint/src/index.ts") },
      { find: /^setpoint\/testing$/, replacement: at("packages/setpoint/src/testing/index.ts") },
      { find: /^setpoint\/kinds\/(.*)$/, replacement: at("packages/setpoint/src/kinds/builtin/$1.ts") },
      { find: /^@setpoint\/sqlite$/, replacement: at("packages/sqlite/src/index.ts") },
      { find: /^@setpoint\/control-plane$/, replacement: at("packages/control-plane/src/index.ts") },
      { find: /^@setpoint\/cli$/, replacement: at("packages/cli/src/index.ts") },
      { find: /^@setpoint\/rancher-projects$/, replacement: at("operators/rancher-projects/src/index.ts") },
    ],
  },
  test: {
    include: ["{packages,operators}/*/src/**/*.test.ts", "{examples,tools}/**/*.test.ts"],
    exclude: ["**/node_modules/**", "**/dist/**", "**/*.real.test.ts", "**/*.soak.test.ts"],
    globalSetup: [at("tools/vitest/seed.ts")],
    reporters: ["default", new SkippedReporter()],
    pool: "forks",
    // One fewer than processors is the default, which leaves half of a small machine idle.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    // Limits for what hangs, not for what is slow: a busy machine must not fail a test that is right.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 15_000 } },
  },
});
