import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { SkippedReporter } from "./tools/vitest/skipped-reporter.js";
import { sourceAliases } from "./tools/vitest/source-aliases.js";

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** Tests run on the sources, so that they never see a stale build; child processes that tests start run the build. */
export default defineConfig({
  resolve: {
    alias: [{ find: /^fast-check$/, replacement: at("tools/vitest/fast-check.ts") }, ...sourceAliases(at("."))],
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
