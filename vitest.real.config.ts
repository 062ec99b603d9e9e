import { defineConfig } from "vitest/config";
import unit from "./vitest.config.js";

/**
 * The suites that need more than Node: a real Kubernetes (built at first use), real databases. What is missing is a
 * failure here, never a skip. One file at a time: each starts servers of its own.
 */
export default defineConfig({
  ...unit,
  test: {
    ...unit.test,
    include: ["{packages,operators}/*/src/**/*.real.test.ts", "{examples,tools,conformance}/**/*.real.test.ts"],
    exclude: ["**/node_modules/**", "**/dist/**"],
    fileParallelism: false,
    testTimeout: 120_000,
    hookTimeout: 900_000,
  },
});
